#include <pybind11/pybind11.h>

#include "mlx/python/casters.h"
#include "src/softcap.h"

namespace py = pybind11;
using namespace pybind11::literals;

PYBIND11_MODULE(_ext, m) {
  m.def("softcap", &my_ops::softcap, "x"_a, "cap"_a, py::kw_only(), "stream"_a = py::none());
  m.def("capped_rows", &my_ops::capped_rows, "x"_a, "cap"_a, py::kw_only(),
        "stream"_a = py::none());
  m.def("dtype_of", [](const mlx::core::array& x) { return x.dtype(); });
  m.def("as_stream", [](mlx::core::StreamOrDevice s) { return mlx::core::to_stream(s); });
  m.def("same", [](mlx::core::StreamOrDevice s) { return s; });
}
