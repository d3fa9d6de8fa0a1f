// Running reductions and differences.
#include <string>

#include "convert/optional_int.h"
#include "mlx/ops/reduce.h"
#include "mlx/ops/unary.h"
#include "ops/ops.h"

using namespace pybind11::literals;

namespace {

const char* const kScanDoc = R"(

Args:
    axis: The axis. None means the axis of the flattened array.
    reverse: Whether to go from the end to the start.
    inclusive: Whether each result includes the element at its place.

Returns:
    The results, one for each element.)";

const char* const kTypedScanDoc = R"(

Args:
    axis: The axis. None means the axis of the flattened array.
    reverse: Whether to go from the end to the start.
    inclusive: Whether each result includes the element at its place.
    dtype: The type to compute in. None means the one that follows from the input.

Returns:
    The results, one for each element.)";

const char* const kDiffDoc = R"(Computes the differences of neighbours along an axis.

Args:
    n: How many times to do so.
    axis: The axis.

Returns:
    The differences. The axis is shorter by `n`.

Example:
    >>> mx.diff(mx.array([1, 4, 9]))
    array([3, 5], dtype=int32)
)";

using Scan = mx::array (*)(const mx::array&, bool, bool, mx::StreamOrDevice);
using AxisScan = mx::array (*)(const mx::array&, int, bool, bool, mx::StreamOrDevice);

struct ScanEntry {
  const char* name;
  Scan flat;
  AxisScan along_axis;
  const char* doc;
};

const ScanEntry kScans[] = {
    {"cummax", &mx::cummax, &mx::cummax, "Computes the running maximum."},
    {"cummin", &mx::cummin, &mx::cummin, "Computes the running minimum."},
    {"logcumsumexp", &mx::logcumsumexp, &mx::logcumsumexp,
     "Computes the running logarithm of the sum of exponentials."},
};

const ScanEntry kTypedScans[] = {
    {"cumsum", &mx::cumsum, &mx::cumsum, "Computes the running sum."},
    {"cumprod", &mx::cumprod, &mx::cumprod, "Computes the running product."},
};

mx::array scan(const ScanEntry& e, const mx::array& a, const OptionalInt& axis, bool reverse,
               bool inclusive, mx::StreamOrDevice s) {
  return !axis ? e.flat(a, reverse, inclusive, s) : e.along_axis(a, *axis, reverse, inclusive, s);
}

void define(py::module_& m, ArrayClass& cls, const ScanEntry& e) {
  auto call = [e](const ArrayLike& a, const OptionalInt& axis, bool reverse, bool inclusive,
                  StreamArg s) { return scan(e, to_array(a), axis, reverse, inclusive, s); };
  std::string doc = std::string(e.doc) + kScanDoc;
  m.def(e.name, call, "a"_a, py::pos_only(), "axis"_a = py::none(), py::kw_only(),
        "reverse"_a = false, "inclusive"_a = true, "stream"_a = py::none(), doc.c_str());
  cls.def(e.name, call, "axis"_a = py::none(), py::kw_only(), "reverse"_a = false,
          "inclusive"_a = true, "stream"_a = py::none(), doc.c_str());
}

void define_typed(py::module_& m, ArrayClass& cls, const ScanEntry& e) {
  auto call = [e](const ArrayLike& value, const OptionalInt& axis, bool reverse, bool inclusive,
                  const mx::Dtype* dtype, StreamArg s) {
    mx::array a = to_array(value);
    return scan(e, dtype ? mx::astype(a, *dtype, s) : a, axis, reverse, inclusive, s);
  };
  std::string doc = std::string(e.doc) + kTypedScanDoc;
  m.def(e.name, call, "a"_a, py::pos_only(), "axis"_a = py::none(), py::kw_only(),
        "reverse"_a = false, "inclusive"_a = true, "dtype"_a = py::none(), "stream"_a = py::none(),
        doc.c_str());
  cls.def(e.name, call, "axis"_a = py::none(), py::kw_only(), "reverse"_a = false,
          "inclusive"_a = true, "dtype"_a = py::none(), "stream"_a = py::none(), doc.c_str());
}

}  // namespace

void init_ops_scan(py::module_& m, ArrayClass& cls) {
  for (const ScanEntry& e : kScans) define(m, cls, e);
  for (const ScanEntry& e : kTypedScans) define_typed(m, cls, e);
  m.def(
      "diff",
      [](const ArrayLike& a, int n, int axis, StreamArg s) {
        return mx::diff(to_array(a), n, axis, s);
      },
      "a"_a, py::pos_only(), "n"_a = 1, "axis"_a = -1, STREAM_KEYWORD, kDiffDoc);
}
