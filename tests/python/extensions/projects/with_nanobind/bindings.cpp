#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "src/softcap.h"

namespace nb = nanobind;
using namespace nb::literals;

NB_MODULE(_ext, m) {
  m.def("softcap", &my_ops::softcap, "x"_a, "cap"_a, nb::kw_only(), "stream"_a = nb::none());
  m.def("capped_rows", &my_ops::capped_rows, "x"_a, "cap"_a, nb::kw_only(),
        "stream"_a = nb::none());
  m.def("dtype_of", [](const mx::array& x) { return x.dtype(); });
  m.def("as_stream", [](mx::StreamOrDevice s) { return mx::to_stream(s); }, "s"_a.none());
  m.def("same", [](mx::StreamOrDevice s) { return s; }, "s"_a.none());

  m.def("kind", [](const mx::array&) { return "array"; });
  m.def("kind", [](mx::Device::DeviceType) { return "type of device"; });
  m.def("kind", [](mx::Device) { return "device"; });
  m.def("kind", [](mx::Dtype) { return "dtype"; });
  m.def("kind", [](const std::vector<mx::array>&) { return "list"; });
  m.def("kind", [](nb::object) { return "object"; }, "x"_a.none());
  m.def(
      "plus",
      [](const mx::array& x, const std::optional<mx::array>& y) { return y ? mx::add(x, *y) : x; },
      "x"_a, "y"_a = nb::none());
  m.def("swapped", [](std::pair<mx::array, mx::array> p) { return std::pair(p.second, p.first); });
  m.def("zeros", [](int n, mx::Dtype dtype) { return mx::zeros({n}, dtype); });
  m.def("device_index", [](mx::Device device) { return device.index; });
  m.def("size_of", [](const mx::array* x) { return x ? int(x->size()) : -1; }, "x"_a.none());
  m.def("size_of_some", [](const mx::array& x) { return x.size(); }, "x"_a.none());
  m.def("nothing", []() -> mx::array* { return nullptr; });
  m.def("halves", [](nb::list items) {
    nb::list halves;
    for (nb::handle item : items) {
      if (!nb::isinstance<mx::array>(item))
        throw std::invalid_argument("[halves] An array is needed.");
      halves.append(mx::divide(nb::cast<mx::array>(item), mx::array(2.0f)));
    }
    return halves;
  });
}
