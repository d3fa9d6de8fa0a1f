// Reductions over axes.
#include "mlx/ops/reduce.h"

#include <numeric>
#include <string>

#include "convert/optional_int.h"
#include "ops/ops.h"

using namespace pybind11::literals;

namespace {

const char* const kReductionDoc = R"(

Args:
    axis: The axis or axes to reduce. None means all of them.
    keepdims: Whether the reduced axes stay, with length 1.

Returns:
    The results, one for each slice along the axes.)";

const char* const kSumDoc =
    R"(Sums the elements. The sums of bool and small integers have type int32 or uint32.

Example:
    >>> a = mx.array([[1, 2], [3, 4]])
    >>> mx.sum(a, axis=0)
    array([4, 6], dtype=int32)
    >>> mx.sum(a, axis=(0, 1), keepdims=True)
    array([[10]], dtype=int32)
)";

const char* const kVarianceDoc = R"(

Args:
    axis: The axis or axes to reduce. None means all of them.
    ddof: What is subtracted from the number of elements in the divisor.
    correction: The array API standard's name of `ddof`; it comes first if it is given.

Returns:
    The results, one for each slice along the axes.)";

const char* const kArgDoc = R"(

Args:
    axis: The axis to search. None means the axis of the flattened array.

Returns:
    The indices, of type uint32.)";

const char* const kCountNonzeroDoc = R"(Counts the elements that are not zero.

Args:
    axis: The axis or axes to reduce. None means all of them.

Returns:
    The numbers of elements, one for each slice along the axes.)";

const char* const kMinmaxDoc = R"(Finds the smallest and the largest element.

Args:
    axis: The axis or axes to reduce. None means all of them.
    keepdims: Whether the reduced axes stay, with length 1.

Returns:
    The smallest and the largest elements, as `min` and `max` give them.

Example:
    >>> mx.minmax(mx.array([3, 1, 2]))
    (array(1, dtype=int32), array(3, dtype=int32)))";

const char* const kSoftmaxDoc = R"(Computes `exp(a) / sum(exp(a))`, without overflow.

Args:
    axis: The axis or axes of the sum. None means all of them.
    precise: Whether to compute with float32 when the type is narrower.

Returns:
    Positive numbers with sum 1 along the axes, of the shape of `a`.)";

using Reduction = mx::array (*)(const mx::array&, const std::vector<int>&, bool,
                                mx::StreamOrDevice);
using Variance = mx::array (*)(const mx::array&, const std::vector<int>&, bool, int,
                               mx::StreamOrDevice);

struct ReductionEntry {
  const char* name;
  Reduction function;
  const char* doc;
  bool is_method;
};

const ReductionEntry kReductions[] = {
    {"all", &mx::all, "Tells whether all elements are true (not zero).", true},
    {"any", &mx::any, "Tells whether any element is true (not zero).", true},
    {"sum", &mx::sum, kSumDoc, true},
    {"prod", &mx::prod, "Multiplies the elements.", true},
    {"min", &mx::min, "Finds the smallest element.", true},
    {"max", &mx::max, "Finds the largest element.", true},
    {"mean", &mx::mean, "Computes the mean of the elements.", true},
    {"median", &mx::median, "Computes the median of the elements: the middle one in sorted order.",
     false},
    {"logsumexp", &mx::logsumexp,
     "Computes the logarithm of the sum of exponentials, without overflow.", true},
};

// Without axes, reduces over all of them.
std::vector<int> axes_of(const mx::array& a, const Axes& axes) {
  if (axes.value) return *axes.value;
  std::vector<int> all(a.ndim());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void define(py::module_& m, ArrayClass& cls, const ReductionEntry& e) {
  auto call = [function = e.function](const ArrayLike& value, const Axes& axis, bool keepdims,
                                      StreamArg s) {
    mx::array a = to_array(value);
    return function(a, axes_of(a, axis), keepdims, s);
  };
  std::string doc = std::string(e.doc) + kReductionDoc;
  m.def(e.name, call, "a"_a, py::pos_only(), "axis"_a = py::none(), "keepdims"_a = false,
        STREAM_KEYWORD, doc.c_str());
  if (e.is_method) {
    cls.def(e.name, call, "axis"_a = py::none(), "keepdims"_a = false, STREAM_KEYWORD, doc.c_str());
  }
}

void define_variance(py::module_& m, ArrayClass& cls, const char* name, Variance function,
                     const char* sentence) {
  std::string text = std::string(sentence) + kVarianceDoc;
  const char* doc = text.c_str();
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
                const char* sentence) {
  std::string text = std::string(sentence) + kArgDoc;
  const char* doc = text.c_str();
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
  for (const ReductionEntry& e : kReductions) define(m, cls, e);
  define_variance(m, cls, "var", &mx::var,
                  "Computes the variance: the mean of squared distances from the mean.");
  define_variance(m, cls, "std", &mx::std,
                  "Computes the standard deviation: the square root of the variance.");
  define_arg<ArgAll, ArgOne>(m, cls, "argmin", &mx::argmin, &mx::argmin,
                             "Finds the index of the smallest element, the first of equal ones.");
  define_arg<ArgAll, ArgOne>(m, cls, "argmax", &mx::argmax, &mx::argmax,
                             "Finds the index of the largest element, the first of equal ones.");
  m.def(
      "count_nonzero",
      [](const ArrayLike& value, const Axes& axis, bool keepdims, StreamArg s) {
        mx::array a = to_array(value);
        return mx::count_nonzero(a, axes_of(a, axis), keepdims, s);
      },
      "a"_a, py::pos_only(), "axis"_a = py::none(), "keepdims"_a = false, STREAM_KEYWORD,
      kCountNonzeroDoc);
  m.def(
      "minmax",
      [](const ArrayLike& value, const Axes& axis, bool keepdims, StreamArg s) {
        mx::array a = to_array(value);
        auto [smallest, largest] = mx::minmax(a, axes_of(a, axis), keepdims, s);
        return to_tuple({smallest, largest});
      },
      "a"_a, py::pos_only(), "axis"_a = py::none(), "keepdims"_a = false, STREAM_KEYWORD,
      kMinmaxDoc);
  m.def(
      "softmax",
      [](const ArrayLike& value, const Axes& axis, bool precise, StreamArg s) {
        mx::array a = to_array(value);
        return mx::softmax(a, axes_of(a, axis), precise, s);
      },
      "a"_a, py::pos_only(), "axis"_a = py::none(), py::kw_only(), "precise"_a = false,
      "stream"_a = py::none(), kSoftmaxDoc);
}
