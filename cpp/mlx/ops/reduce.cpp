// Reductions, scans and softmax.
#include "mlx/ops/reduce.h"

#include <algorithm>
#include <cmath>

#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"
#include "mlx/primitives/reduce.h"
#include "mlx/transforms_impl.h"

namespace mlx::core {

namespace {

// The type of sums and products: integers get at least 32 bits.
Dtype accumulated(Dtype dtype) {
  if (dtype == bool_ || (issubdtype(dtype, signedinteger) && dtype.size() < 4)) {
    return int32;
  }
  return issubdtype(dtype, unsignedinteger) && dtype.size() < 4 ? uint32 : dtype;
}

Shape reduced_shape(const array& a, const std::vector<int>& axes) {
  Shape shape = a.shape();
  for (int axis : axes) {
    shape[axis] = 1;
  }
  return shape;
}

array drop_axes(array out, const std::vector<int>& axes, bool keepdims, StreamOrDevice s) {
  return keepdims || axes.empty() ? out : without_axes(out, axes, to_stream(s));
}

void check_not_empty(const array& a, const std::vector<int>& axes, const std::string& op) {
  for (int axis : axes) {
    if (a.shape(axis) == 0) {
      invalid_argument(op, message("An axis of length 0 has no ", op, ": shape ", a.shape(),
                                   ", axis ", axis, "."));
    }
  }
}

array reduce(const array& a, Dtype out_type, Reduce::ReduceType type,
             const std::vector<int>& given_axes, bool keepdims, const std::string& op,
             StreamOrDevice s) {
  auto axes = normalize_axes(given_axes, rank(a), op);
  if (type == Reduce::Min || type == Reduce::Max) {
    check_not_empty(a, axes, op);
  }
  if (axes.empty()) {
    return astype(a, out_type, s);
  }
  const Stream stream = to_stream(s);
  array out(reduced_shape(a, axes), out_type, std::make_shared<Reduce>(stream, type, axes), {a});
  return drop_axes(std::move(out), axes, keepdims, stream);
}

}  // namespace

array number_along(const array& a, const std::vector<int>& axes, int ddof, Dtype dtype,
                   StreamOrDevice s) {
  if (detail::InTracing::in_dynamic_tracing()) {
    array n = number_of_elements(a, axes, false, dtype, s);
    return maximum(subtract(n, array(ddof, dtype), s), array(0, dtype), s);
  }
  double n = 1;
  for (int axis : axes) {
    n *= a.shape(axis);
  }
  return array(std::max(n - ddof, 0.0), dtype);
}

Dtype wide(Dtype dtype) { return dtype.size() == 2 ? float32 : dtype; }

#define REDUCTION(function, dtype_in, dtype_out, TYPE)                                            \
  array function(const array& a, const std::vector<int>& axes, bool keepdims, StreamOrDevice s) { \
    return reduce(astype(a, dtype_in, s), dtype_out, Reduce::TYPE, axes, keepdims, #function, s); \
  }
REDUCTION(all, bool_, bool_, And)
REDUCTION(any, bool_, bool_, Or)
// A sum or product over no axes keeps the type.
REDUCTION(sum, a.dtype(), axes.empty() ? a.dtype() : accumulated(a.dtype()), Sum)
REDUCTION(prod, a.dtype(), axes.empty() ? a.dtype() : accumulated(a.dtype()), Prod)
REDUCTION(max, a.dtype(), a.dtype(), Max)
REDUCTION(min, a.dtype(), a.dtype(), Min)
#undef REDUCTION

array count_nonzero(const array& a, const std::vector<int>& given_axes, bool keepdims,
                    StreamOrDevice s) {
  auto axes = normalize_axes(given_axes, rank(a), "count_nonzero");
  // A sum over no axes keeps its type, bool. A conversion to bool would have a derivative.
  array is_counted = not_equal(a, array(0, a.dtype()), s);
  return astype(sum(is_counted, axes, keepdims, s), int32, s);
}

array mean(const array& a, const std::vector<int>& given_axes, bool keepdims, StreamOrDevice s) {
  const Dtype dtype = at_least_float(a.dtype());
  return reduce(astype(a, dtype, s), dtype, Reduce::Mean, given_axes, keepdims, "mean", s);
}

array var(const array& a, const std::vector<int>& given_axes, bool keepdims, int ddof,
          StreamOrDevice s) {
  auto axes = normalize_axes(given_axes, rank(a), "var");
  const Dtype dtype = at_least_float(a.dtype());
  const array x = astype(a, dtype, s);
  if (issubdtype(dtype, floating) && dtype != float64 && !axes.empty()) {
    const Stream stream = to_stream(s);
    array out(reduced_shape(x, axes), dtype, std::make_shared<Variance>(stream, axes, ddof), {x});
    return drop_axes(std::move(out), axes, keepdims, stream);
  }
  array distances = subtract(x, mean(x, axes, true, s), s);
  array squares = square(dtype == complex64 ? abs(distances, s) : distances, s);
  array n = number_along(a, axes, ddof, squares.dtype(), s);
  return divide(sum(squares, axes, keepdims, s), n, s);
}

array std(const array& a, const std::vector<int>& given_axes, bool keepdims, int ddof,
          StreamOrDevice s) {
  auto axes = normalize_axes(given_axes, rank(a), "std");
  return sqrt(var(a, axes, keepdims, ddof, s), s);
}

array median(const array& a, const std::vector<int>& given_axes, bool keepdims, StreamOrDevice s) {
  auto axes = normalize_axes(given_axes, rank(a), "median");
  check_not_empty(a, axes, "median");
  Dtype dtype = at_least_float(a.dtype());
  if (axes.empty()) {
    return astype(a, dtype, s);
  }
  array out = along_axes(a, axes, false, to_stream(s), [&](const array& x) {
    const int n = x.shape(-1);
    const auto at = [&](const array& line, int i) {
      return astype(take(line, array({i}, int32), -1, s), dtype, s);
    };
    const array parted = partition(x, n / 2, -1, s);
    array middle = at(parted, n / 2);
    if (n % 2 == 0) {
      Shape end = x.shape();
      end.back() = n / 2;
      const array half = slice(parted, Shape(end.size(), 0), end, s);
      const array below = at(partition(half, n / 2 - 1, -1, s), n / 2 - 1);
      middle = multiply(array(0.5f, dtype), add(below, middle, s), s);
    }
    if (!issubdtype(a.dtype(), inexact)) {
      return middle;
    }
    const array largest = astype(max(x, -1, true, s), dtype, s);  // NaN if there is one
    return where(isnan(largest, s), largest, middle, s);
  });
  return drop_axes(std::move(out), axes, keepdims, s);
}

array logsumexp(const array& a, const std::vector<int>& given_axes, bool keepdims,
                StreamOrDevice s) {
  auto axes = normalize_axes(given_axes, rank(a), "logsumexp");
  Stream stream = to_stream(s);
  Dtype dtype = at_least_float(a.dtype());
  array x = astype(a, dtype, stream);
  if (axes.empty()) {
    return x;
  }
  if (dtype == complex64) {
    array shift = max(real(x, s), axes, true, s);
    shift = where(isfinite(shift, s), shift, zeros_like(shift, s), s);
    array sums = sum(exp(subtract(x, shift, s), s), axes, true, s);
    return drop_axes(add(log(sums, s), shift, s), axes, keepdims, s);
  }
  array out = along_axes(x, axes, false, stream, [&](const array& last) {
    Shape shape = last.shape();
    shape.back() = 1;
    return array(std::move(shape), dtype, std::make_shared<LogSumExp>(stream), {last});
  });
  return drop_axes(std::move(out), axes, keepdims, s);
}

#define OVER_ALL_OR_ONE(function)                                             \
  array function(const array& a, bool keepdims, StreamOrDevice s) {           \
    return function(a, all_axes(a), keepdims, s);                             \
  }                                                                           \
  array function(const array& a, int axis, bool keepdims, StreamOrDevice s) { \
    return function(a, std::vector<int>{axis}, keepdims, s);                  \
  }
OVER_ALL_OR_ONE(all)
OVER_ALL_OR_ONE(any)
OVER_ALL_OR_ONE(sum)
OVER_ALL_OR_ONE(mean)
OVER_ALL_OR_ONE(median)
OVER_ALL_OR_ONE(prod)
OVER_ALL_OR_ONE(max)
OVER_ALL_OR_ONE(min)
OVER_ALL_OR_ONE(logsumexp)
OVER_ALL_OR_ONE(count_nonzero)
#undef OVER_ALL_OR_ONE

std::pair<array, array> minmax(const array& a, const std::vector<int>& given_axes, bool keepdims,
                               StreamOrDevice s) {
  auto axes = normalize_axes(given_axes, rank(a), "minmax");
  return {min(a, axes, keepdims, s), max(a, axes, keepdims, s)};
}
std::pair<array, array> minmax(const array& a, bool keepdims, StreamOrDevice s) {
  return minmax(a, all_axes(a), keepdims, s);
}
std::pair<array, array> minmax(const array& a, int axis, bool keepdims, StreamOrDevice s) {
  return minmax(a, std::vector<int>{axis}, keepdims, s);
}

#define OVER_ALL_OR_ONE_WITH_DDOF(function)                                             \
  array function(const array& a, bool keepdims, int ddof, StreamOrDevice s) {           \
    return function(a, all_axes(a), keepdims, ddof, s);                                 \
  }                                                                                     \
  array function(const array& a, int axis, bool keepdims, int ddof, StreamOrDevice s) { \
    return function(a, std::vector<int>{axis}, keepdims, ddof, s);                      \
  }
OVER_ALL_OR_ONE_WITH_DDOF(var)
OVER_ALL_OR_ONE_WITH_DDOF(std)
#undef OVER_ALL_OR_ONE_WITH_DDOF

namespace {

array arg_reduce(const array& a, ArgReduce::ReduceType type, int axis, bool keepdims,
                 const std::string& op, StreamOrDevice s) {
  axis = normalize_axis_index(axis, rank(a), op);
  check_not_empty(a, {axis}, op);
  array out(reduced_shape(a, {axis}), uint32, std::make_shared<ArgReduce>(to_stream(s), type, axis),
            {a});
  return drop_axes(std::move(out), {axis}, keepdims, s);
}

array arg_reduce_all(const array& a, ArgReduce::ReduceType type, bool keepdims,
                     const std::string& op, StreamOrDevice s) {
  array out = arg_reduce(reshape(a, {-1}, s), type, 0, true, op, s);
  return keepdims ? reshape(out, Shape(a.ndim(), 1), s) : squeeze(out, 0, s);
}

array scan(const array& a, Scan::ReduceType type, int axis, bool reverse, bool inclusive,
           Dtype dtype, const std::string& op, StreamOrDevice s) {
  axis = normalize_axis_index(axis, rank(a), op);
  auto primitive = std::make_shared<Scan>(to_stream(s), type, axis, reverse, inclusive);
  return array(a.shape(), dtype, std::move(primitive), {astype(a, dtype, s)});
}

}  // namespace

array argmin(const array& a, bool keepdims, StreamOrDevice s) {
  return arg_reduce_all(a, ArgReduce::ArgMin, keepdims, "argmin", s);
}
array argmin(const array& a, int axis, bool keepdims, StreamOrDevice s) {
  return arg_reduce(a, ArgReduce::ArgMin, axis, keepdims, "argmin", s);
}
array argmax(const array& a, bool keepdims, StreamOrDevice s) {
  return arg_reduce_all(a, ArgReduce::ArgMax, keepdims, "argmax", s);
}
array argmax(const array& a, int axis, bool keepdims, StreamOrDevice s) {
  return arg_reduce(a, ArgReduce::ArgMax, axis, keepdims, "argmax", s);
}

#define SCAN(function, TYPE, dtype)                                                          \
  array function(const array& a, int axis, bool reverse, bool inclusive, StreamOrDevice s) { \
    return scan(a, Scan::TYPE, axis, reverse, inclusive, dtype, #function, s);               \
  }                                                                                          \
  array function(const array& a, bool reverse, bool inclusive, StreamOrDevice s) {           \
    return function(reshape(a, {-1}, s), 0, reverse, inclusive, s);                          \
  }
SCAN(cumsum, Sum, a.dtype() == bool_ ? int32 : a.dtype())
SCAN(cumprod, Prod, a.dtype())
SCAN(cummax, Max, a.dtype())
SCAN(cummin, Min, a.dtype())
SCAN(logcumsumexp, LogAddExp, at_least_float(a.dtype()))
#undef SCAN

array softmax(const array& a, const std::vector<int>& given_axes, bool precise, StreamOrDevice s) {
  auto axes = normalize_axes(given_axes, rank(a), "softmax");
  Stream stream = to_stream(s);
  Dtype dtype = at_least_float(a.dtype());
  array x = astype(a, dtype, stream);
  if (a.size() == 0) {
    return x;
  }
  if (axes.empty()) {
    return ones_like(x, s);
  }
  // For all shapes, several axes cannot be joined and separated again: that needs their lengths.
  if (dtype == complex64 || (axes.size() > 1 && detail::InTracing::in_dynamic_tracing())) {
    x = astype(x, wide(dtype), stream);
    array largest = max(dtype == complex64 ? real(x, stream) : x, axes, true, stream);
    array parts = exp(subtract(x, stop_gradient(largest, stream), stream), stream);
    return astype(divide(parts, sum(parts, axes, true, stream), stream), dtype, stream);
  }
  return along_axes(x, axes, true, stream, [&](const array& last) {
    return elementwise<Softmax>({last}, dtype, stream, precise);
  });
}

array softmax(const array& a, bool precise, StreamOrDevice s) {
  return softmax(a, all_axes(a), precise, s);
}

array diff(const array& a, int n, int axis, StreamOrDevice s) {
  if (n < 0) {
    invalid_argument("diff",
                     message("The number of differences must not be negative, but is ", n, "."));
  }
  axis = normalize_axis_index(axis, rank(a), "diff");
  array out = a;
  for (; n > 0; --n) {
    int length = out.shape(axis);
    Shape first(out.ndim(), 0);
    Shape stop = out.shape();
    stop[axis] = std::max(length - 1, 0);
    array before = slice(out, first, stop, s);
    first[axis] = std::min(1, length);
    array after = slice(out, first, out.shape(), s);
    out = out.dtype() == bool_ ? not_equal(after, before, s) : subtract(after, before, s);
  }
  return out;
}

}  // namespace mlx::core
