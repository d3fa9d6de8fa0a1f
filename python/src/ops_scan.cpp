// Running reductions and differences.
#include "mlx/ops/reduce.h"
#include "mlx/ops/unary.h"
#include "ops.h"
#include "optional_int.h"

using namespace pybind11::literals;

namespace {

using Scan = mx::array (*)(const mx::array&, bool, bool, mx::StreamOrDevice);
using AxisScan = mx::array (*)(const mx::array&, int, bool, bool, mx::StreamOrDevice);

struct Entry {
  const char* name;
  Scan flat;
  AxisScan along_axis;
  const char* doc;
};

const Entry kScans[] = {
    {"cummax", &mx::cummax, &mx::cummax,
     "The running maximum, of the flattened array if no axis is given."},
    {"cummin", &mx::cummin, &mx::cummin,
     "The running minimum, of the flattened array if no axis is given."},
    {"logcumsumexp", &mx::logcumsumexp, &mx::logcumsumexp,
     "The running logarithm of the sum of exponentials."},
};

const Entry kTypedScans[] = {
    {"cumsum", &mx::cumsum, &mx::cumsum,
     "The running sum, of the flattened array if no axis is given."},
    {"cumprod", &mx::cumprod, &mx::cumprod,
     "The running product, of the flattened array if no axis is given."},
};

mx::array scan(const Entry& e, const mx::array& a, const OptionalInt& axis, bool reverse,
               bool inclusive, mx::StreamOrDevice s) {
  return !axis ? e.flat(a, reverse, inclusive, s) : e.along_axis(a, *axis, reverse, inclusive, s);
}

void define(py::module_& m, ArrayClass& cls, const Entry& e) {
  auto call = [e](const ArrayLike& a, const OptionalInt& axis, bool reverse, bool inclusive,
                  StreamArg s) { return scan(e, to_array(a), axis, reverse, inclusive, s); };
  m.def(e.name, call, "a"_a, py::pos_only(), "axis"_a = py::none(), py::kw_only(),
        "reverse"_a = false, "inclusive"_a = true, "stream"_a = py::none(), e.doc);
  cls.def(e.name, call, "axis"_a = py::none(), py::kw_only(), "reverse"_a = false,
          "inclusive"_a = true, "stream"_a = py::none(), e.doc);
}

void define_typed(py::module_& m, ArrayClass& cls, const Entry& e) {
  auto call = [e](const ArrayLike& value, const OptionalInt& axis, bool reverse, bool inclusive,
                  const mx::Dtype* dtype, StreamArg s) {
    mx::array a = to_array(value);
    return scan(e, dtype ? mx::astype(a, *dtype, s) : a, axis, reverse, inclusive, s);
  };
  m.def(e.name, call, "a"_a, py::pos_only(), "axis"_a = py::none(), py::kw_only(),
        "reverse"_a = false, "inclusive"_a = true, "dtype"_a = py::none(), "stream"_a = py::none(),
        e.doc);
  cls.def(e.name, call, "axis"_a = py::none(), py::kw_only(), "reverse"_a = false,
          "inclusive"_a = true, "dtype"_a = py::none(), "stream"_a = py::none(), e.doc);
}

}  // namespace

void init_ops_scan(py::module_& m, ArrayClass& cls) {
  for (const Entry& e : kScans) define(m, cls, e);
  for (const Entry& e : kTypedScans) define_typed(m, cls, e);
  m.def(
      "diff",
      [](const ArrayLike& a, int n, int axis, StreamArg s) {
        return mx::diff(to_array(a), n, axis, s);
      },
      "a"_a, py::pos_only(), "n"_a = 1, "axis"_a = -1, STREAM_KEYWORD,
      "The differences of neighbours along an axis, taken n times.");
}
