// Reductions over axes.
#include <numeric>

#include "mlx/ops/reduce.h"
#include "ops.h"
#include "optional_int.h"

using namespace pybind11::literals;

namespace {

using Reduction = mx::array (*)(const mx::array&, const std::vector<int>&, bool,
                                mx::StreamOrDevice);
using Variance = mx::array (*)(const mx::array&, const std::vector<int>&, bool, int,
                               mx::StreamOrDevice);

struct Entry {
  const char* name;
  Reduction function;
  const char* doc;
  bool is_method;
};

const Entry kReductions[] = {
    {"all", &mx::all, "Whether all elements are true.", true},
    {"any", &mx::any, "Whether any element is true.", true},
    {"sum", &mx::sum, "The sum of the elements.", true},
    {"prod", &mx::prod, "The product of the elements.", true},
    {"min", &mx::min, "The smallest element.", true},
    {"max", &mx::max, "The largest element.", true},
    {"mean", &mx::mean, "The mean of the elements.", true},
    {"median", &mx::median, "The median of the elements.", false},
    {"logsumexp", &mx::logsumexp, "The logarithm of the sum of exponentials.", true},
};

// No axis means all of them.
std::vector<int> axes_of(const mx::array& a, const Axes& axes) {
  if (axes.value) return *axes.value;
  std::vector<int> all(a.ndim());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void define(py::module_& m, ArrayClass& cls, const Entry& e) {
  auto call = [function = e.function](const ArrayLike& value, const Axes& axis, bool keepdims,
                                      StreamArg s) {
    mx::array a = to_array(value);
    return function(a, axes_of(a, axis), keepdims, s);
  };
  m.def(e.name, call, "a"_a, py::pos_only(), "axis"_a = py::none(), "keepdims"_a = false,
        STREAM_KEYWORD, e.doc);
  if (e.is_method)
    cls.def(e.name, call, "axis"_a = py::none(), "keepdims"_a = false, STREAM_KEYWORD, e.doc);
}

void define_variance(py::module_& m, ArrayClass& cls, const char* name, Variance function,
                     const char* doc) {
  auto call = [function](const ArrayLike& value, const Axes& axis, bool keepdims, int ddof,
                         const OptionalInt& correction, StreamArg s) {
    mx::array a = to_array(value);
    return function(a, axes_of(a, axis), keepdims, correction.value.value_or(ddof), s);
  };
  m.def(name, call, "a"_a, py::pos_only(), "axis"_a = py::none(), "keepdims"_a = false,
        "ddof"_a = 0, py::kw_only(), "correction"_a = py::none(), "stream"_a = py::none(), doc);
  cls.def(name, call, "axis"_a = py::none(), "keepdims"_a = false, "ddof"_a = 0, py::kw_only(),
          "correction"_a = py::none(), "stream"_a = py::none(), doc);
}

template <typename All, typename One>
void define_arg(py::module_& m, ArrayClass& cls, const char* name, All all, One one,
                const char* doc) {
  auto call = [all, one](const ArrayLike& value, const OptionalInt& axis, bool keepdims,
                         StreamArg s) {
    mx::array a = to_array(value);
    return !axis ? all(a, keepdims, s) : one(a, *axis, keepdims, s);
  };
  m.def(name, call, "a"_a, py::pos_only(), "axis"_a = py::none(), "keepdims"_a = false,
        STREAM_KEYWORD, doc);
  cls.def(name, call, "axis"_a = py::none(), "keepdims"_a = false, STREAM_KEYWORD, doc);
}

using ArgAll = mx::array (*)(const mx::array&, bool, mx::StreamOrDevice);
using ArgOne = mx::array (*)(const mx::array&, int, bool, mx::StreamOrDevice);

}  // namespace

void init_ops_reduce(py::module_& m, ArrayClass& cls) {
  for (const Entry& e : kReductions) define(m, cls, e);
  define_variance(
      m, cls, "var", &mx::var,
      "The variance; `ddof`, or `correction`, is subtracted from the number of elements.");
  define_variance(
      m, cls, "std", &mx::std,
      "The standard deviation; `ddof`, or `correction`, is subtracted from the number of "
      "elements.");
  define_arg<ArgAll, ArgOne>(m, cls, "argmin", &mx::argmin, &mx::argmin,
                             "The index of the smallest element, the first of equals.");
  define_arg<ArgAll, ArgOne>(m, cls, "argmax", &mx::argmax, &mx::argmax,
                             "The index of the largest element, the first of equals.");
  m.def(
      "count_nonzero",
      [](const ArrayLike& value, const Axes& axis, bool keepdims, StreamArg s) {
        mx::array a = to_array(value);
        return mx::count_nonzero(a, axes_of(a, axis), keepdims, s);
      },
      "a"_a, py::pos_only(), py::kw_only(), "axis"_a = py::none(), "keepdims"_a = false,
      "stream"_a = py::none(), "How many elements are not zero.");
  m.def(
      "softmax",
      [](const ArrayLike& value, const Axes& axis, bool precise, StreamArg s) {
        mx::array a = to_array(value);
        return mx::softmax(a, axes_of(a, axis), precise, s);
      },
      "a"_a, py::pos_only(), "axis"_a = py::none(), py::kw_only(), "precise"_a = false,
      "stream"_a = py::none(),
      "exp(a) over its sum along the axes; `precise` accumulates in float32.");
}
