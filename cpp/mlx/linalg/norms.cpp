// Norms, and the cross product.
#include <cmath>
#include <limits>
#include <numeric>

#include "mlx/errors.h"
#include "mlx/linalg.h"
#include "mlx/linalg/checks.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"

namespace mlx::core::linalg {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

array floating(const array& a, const Stream& s) {
  return issubdtype(a.dtype(), inexact) ? a : astype(a, float32, s);
}

// The square root of the sum of the squares.
array euclidean(const array& a, const std::vector<int>& axes, bool keepdims, const Stream& s) {
  array size = a.dtype() == complex64 ? abs(a, s) : a;
  return sqrt(sum(square(size, s), axes, keepdims, s), s);
}

array vector_norm(const array& a, double ord, int axis, bool keepdims, const Stream& s) {
  array size = abs(a, s);
  if (ord == kInfinity) return max(size, axis, keepdims, s);
  if (ord == -kInfinity) return min(size, axis, keepdims, s);
  if (ord == 0) {
    return sum(astype(not_equal(a, scalar(0, a), s), size.dtype(), s), axis, keepdims, s);
  }
  if (ord == 1) return sum(size, axis, keepdims, s);
  if (ord == 2) return euclidean(a, {axis}, keepdims, s);
  array power_sum = sum(power(size, scalar(ord, size), s), axis, keepdims, s);
  return power(power_sum, scalar(1 / ord, size), s);
}

// If `keepdims`, gives `reduced` its two lost axes back with length 1.
array with_axes_kept(const array& reduced, const std::vector<int>& axes, bool keepdims,
                     const Stream& s) {
  return keepdims ? expand_dims(reduced, axes, s) : reduced;
}

array singular_values(const array& a, const std::vector<int>& axes, const Stream& s) {
  return svd(moveaxis(moveaxis(a, axes[0], -1, s), axes[1] - (axes[1] > axes[0] ? 1 : 0), -1, s),
             false, s)[0];
}

// The largest or smallest sum of absolute values along `summed`.
array extreme_sum(const array& a, int summed, int other, bool largest, bool keepdims,
                  const Stream& s) {
  array sums = sum(abs(a, s), summed, keepdims, s);
  const int axis = !keepdims && other > summed ? other - 1 : other;
  return largest ? max(sums, axis, keepdims, s) : min(sums, axis, keepdims, s);
}

array matrix_norm(const array& a, double ord, const std::vector<int>& axes, bool keepdims,
                  const Stream& s) {
  if (std::abs(ord) == 1) return extreme_sum(a, axes[0], axes[1], ord > 0, keepdims, s);
  if (std::abs(ord) == kInfinity) return extreme_sum(a, axes[1], axes[0], ord > 0, keepdims, s);
  if (std::abs(ord) != 2) {
    invalid_argument("linalg::norm",
                     message("The order of a matrix norm must be 1, -1, 2, -2, inf, -inf, \"fro\" "
                             "or \"nuc\", not ",
                             std::to_string(ord), "."));
  }
  array values = singular_values(a, axes, s);
  return with_axes_kept(ord > 0 ? max(values, -1, false, s) : min(values, -1, false, s), axes,
                        keepdims, s);
}

// The given axes, or all axes of a vector or a matrix.
std::vector<int> norm_axes(const array& a, const std::optional<std::vector<int>>& given) {
  if (given) {
    auto axes = *given;
    for (int& axis : axes) axis = normalize_axis_index(axis, rank(a), "linalg::norm");
    if (axes.size() == 1 || (axes.size() == 2 && axes[0] != axes[1])) return axes;
    invalid_argument("linalg::norm", message("One axis or two different ones are needed where an "
                                             "order is given, not ",
                                             Shape(given->begin(), given->end()), "."));
  }
  if (a.ndim() != 1 && a.ndim() != 2) {
    invalid_argument("linalg::norm",
                     message("Without an axis, an order is for arrays of 1 or 2 dimensions, but "
                             "the array has shape ",
                             a.shape(), "."));
  }
  return all_axes(a);
}

}  // namespace

array norm(const array& a, double ord, const std::optional<std::vector<int>>& axis, bool keepdims,
           StreamOrDevice s) {
  const Stream stream = to_stream(s);
  const auto axes = norm_axes(a, axis);
  array x = floating(a, stream);
  return axes.size() == 1 ? vector_norm(x, ord, axes[0], keepdims, stream)
                          : matrix_norm(x, ord, axes, keepdims, stream);
}

array norm(const array& a, const std::string& ord, const std::optional<std::vector<int>>& axis,
           bool keepdims, StreamOrDevice s) {
  const Stream stream = to_stream(s);
  const auto axes = norm_axes(a, axis);
  array x = floating(a, stream);
  if (axes.size() == 2 && (ord == "f" || ord == "fro")) return euclidean(x, axes, keepdims, stream);
  if (axes.size() == 2 && ord == "nuc") {
    return with_axes_kept(sum(singular_values(x, axes, stream), -1, false, stream), axes, keepdims,
                          stream);
  }
  invalid_argument("linalg::norm",
                   axes.size() == 1
                       ? "The order of a vector norm must be a number, not \"" + ord + "\"."
                       : "The order must be a number, \"fro\" or \"nuc\", not \"" + ord + "\".");
}

array norm(const array& a, const std::optional<std::vector<int>>& axis, bool keepdims,
           StreamOrDevice s) {
  const Stream stream = to_stream(s);
  return euclidean(floating(a, stream), axis ? *axis : all_axes(a), keepdims, stream);
}

array cross(const array& a, const array& b, int axis, StreamOrDevice s) {
  const Stream stream = to_stream(s);
  auto length = [&](const array& x) {
    const int at = normalize_axis_index(axis, rank(x), "linalg::cross");
    if (x.shape(at) == 2 || x.shape(at) == 3) return x.shape(at);
    invalid_argument("linalg::cross",
                     message("Vectors must have 2 or 3 elements, but the array has shape ",
                             x.shape(), " and the axis is ", axis, "."));
  };
  const bool flat_a = length(a) == 2, flat_b = length(b) == 2;
  const Dtype type = promote_types(a.dtype(), b.dtype());
  auto element = [&](const array& x, int i) {
    return take(astype(x, type, stream), i, axis, stream);
  };
  // Element i of the product; vectors of two elements have a third that is zero.
  auto product = [&](int i, int j) {
    std::optional<array> difference;
    if (!(flat_a && i == 2) && !(flat_b && j == 2))
      difference = multiply(element(a, i), element(b, j), stream);
    if (!(flat_a && j == 2) && !(flat_b && i == 2)) {
      array right = multiply(element(a, j), element(b, i), stream);
      difference = difference ? subtract(*difference, right, stream) : negative(right, stream);
    }
    return *difference;
  };
  if (flat_a && flat_b) {
    const array height = product(0, 1);
    const array zero = zeros_like(height, stream);
    return stack({zero, zero, height}, axis, stream);
  }
  auto elements = broadcast_arrays({product(1, 2), product(2, 0), product(0, 1)}, stream);
  return stack(elements, axis, stream);
}

}  // namespace mlx::core::linalg
