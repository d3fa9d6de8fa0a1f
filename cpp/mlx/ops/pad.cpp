// Padding, and diagonals.
#include <algorithm>
#include <cmath>

#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"
#include "mlx/primitives/shape.h"

namespace mlx::core {

namespace {

// The index in [0, n) of the element at position `i`, which may be outside.
int source_index(int i, int n, const std::string& mode) {
  if (mode == "edge") {
    return std::clamp(i, 0, n - 1);
  }
  // The array and its mirror image alternate; reflect does not repeat the border.
  int64_t twice = int64_t{2} * n;
  int64_t period = mode == "reflect" ? std::max<int64_t>(twice - 2, 1) : twice;
  int64_t k = ((i % period) + period) % period;
  return static_cast<int>(k < n ? k : (mode == "reflect" ? period - k : period - 1 - k));
}

array pad_from_inside(const array& a, int axis, int low, int high, const std::string& mode,
                      StreamOrDevice s) {
  int n = a.shape(axis);
  if (n == 0) {
    invalid_argument("pad", message("An axis of length 0 cannot be padded in mode ", mode, "."));
  }
  std::vector<int> indices;
  for (int i = -low; i < n + high; ++i) {
    indices.push_back(source_index(i, n, mode));
  }
  return take(a, array(indices.begin(), Shape{static_cast<ShapeElem>(indices.size())}, int32), axis,
              s);
}

}  // namespace

array pad(const array& a, const std::vector<int>& given_axes, const Shape& low_pad_size,
          const Shape& high_pad_size, const array& pad_value, const std::string& mode,
          StreamOrDevice s) {
  if (given_axes.size() != low_pad_size.size() || given_axes.size() != high_pad_size.size()) {
    invalid_argument("pad", message("Got ", low_pad_size.size(), " low and ", high_pad_size.size(),
                                    " high sizes for ", given_axes.size(), " axes."));
  }
  Shape shape = a.shape();
  std::vector<int> axes;
  for (size_t i = 0; i < given_axes.size(); ++i) {
    int axis = normalize_axis_index(given_axes[i], rank(a), "pad");
    if (low_pad_size[i] < 0 || high_pad_size[i] < 0) {
      invalid_argument("pad", message("Sizes must not be negative, but are (", low_pad_size[i], ",",
                                      high_pad_size[i], ") for axis ", axis, "."));
    }
    axes.push_back(axis);
    shape[axis] = checked_extent(int64_t{shape[axis]} + low_pad_size[i] + high_pad_size[i], "pad");
  }
  normalize_axes(axes, rank(a), "pad");
  if (shape == a.shape()) {
    return a;
  }
  if (mode == "edge" || mode == "reflect" || mode == "symmetric") {
    array out = a;
    for (size_t i = 0; i < axes.size(); ++i) {
      if (low_pad_size[i] + high_pad_size[i] > 0) {
        out = pad_from_inside(out, axes[i], low_pad_size[i], high_pad_size[i], mode, s);
      }
    }
    return out;
  }
  if (mode != "constant") {
    invalid_argument("pad",
                     "Invalid mode \"" + mode +
                         "\": it must be \"constant\", \"edge\", \"reflect\" or \"symmetric\".");
  }
  if (pad_value.size() != 1) {
    invalid_argument("pad", message("The constant value must be a single one, but has shape ",
                                    pad_value.shape(), "."));
  }
  Stream stream = to_stream(s);
  array value = reshape(astype(pad_value, a.dtype(), stream), Shape{}, stream);
  return array(std::move(shape), a.dtype(),
               std::make_shared<Pad>(stream, axes, low_pad_size, high_pad_size), {a, value});
}

array pad(const array& a, const std::vector<std::pair<int, int>>& pad_width, const array& pad_value,
          const std::string& mode, StreamOrDevice s) {
  if (pad_width.size() != a.ndim()) {
    invalid_argument("pad", message("Got ", pad_width.size(), " pairs of sizes for an array with ",
                                    a.ndim(), " dimensions."));
  }
  Shape low, high;
  for (auto [before, after] : pad_width) {
    low.push_back(before);
    high.push_back(after);
  }
  return pad(a, all_axes(a), low, high, pad_value, mode, s);
}

array pad(const array& a, const std::pair<int, int>& pad_width, const array& pad_value,
          const std::string& mode, StreamOrDevice s) {
  return pad(a, std::vector<std::pair<int, int>>(a.ndim(), pad_width), pad_value, mode, s);
}

array pad(const array& a, int pad_width, const array& pad_value, const std::string& mode,
          StreamOrDevice s) {
  return pad(a, std::pair<int, int>{pad_width, pad_width}, pad_value, mode, s);
}

array diagonal(const array& a, int offset, int axis1, int axis2, StreamOrDevice s) {
  if (a.ndim() < 2) {
    invalid_argument(
        "diagonal",
        message("The array must have at least 2 dimensions, but has shape ", a.shape(), "."));
  }
  int rows_axis = normalize_axis_index(axis1, rank(a), "diagonal");
  int columns_axis = normalize_axis_index(axis2, rank(a), "diagonal");
  if (rows_axis == columns_axis) {
    invalid_argument("diagonal",
                     message("The two axes must differ, but both are ", rows_axis, "."));
  }
  offset = std::clamp(offset, -a.shape(rows_axis), a.shape(columns_axis));
  int first_row = std::max(-offset, 0);
  int first_column = std::max(offset, 0);
  int length =
      std::max(std::min(a.shape(rows_axis) - first_row, a.shape(columns_axis) - first_column), 0);
  array rows = arange(first_row, first_row + length, 1, s);
  array columns = arange(first_column, first_column + length, 1, s);
  Shape slice_sizes = a.shape();
  slice_sizes[rows_axis] = slice_sizes[columns_axis] = length == 0 ? 0 : 1;
  if (length == 0) {
    Shape shape;
    for (int i = 0; i < rank(a); ++i) {
      if (i != rows_axis && i != columns_axis) {
        shape.push_back(a.shape(i));
      }
    }
    shape.push_back(0);
    return zeros(shape, a.dtype(), s);
  }
  array out = gather(a, {rows, columns}, {rows_axis, columns_axis}, slice_sizes, s);
  return moveaxis(squeeze(out, {rows_axis + 1, columns_axis + 1}, s), 0, -1, s);
}

array diag(const array& a, int k, StreamOrDevice s) {
  if (a.ndim() == 2) {
    return diagonal(a, k, 0, 1, s);
  }
  if (a.ndim() != 1) {
    invalid_argument(
        "diag", message("The array must have 1 or 2 dimensions, but has shape ", a.shape(), "."));
  }
  int n = a.shape(0);
  int side = checked_extent(n + std::abs(int64_t{k}), "diag");
  if (n == 0) {
    return zeros({side, side}, a.dtype(), s);
  }
  array rows = arange(std::max(-k, 0), std::max(-k, 0) + n, 1, s);
  array columns = arange(std::max(k, 0), std::max(k, 0) + n, 1, s);
  return scatter(zeros({side, side}, a.dtype(), s), {rows, columns}, reshape(a, {n, 1, 1}, s),
                 {0, 1}, s);
}

array trace(const array& a, int offset, int axis1, int axis2, Dtype dtype, StreamOrDevice s) {
  return sum(astype(diagonal(a, offset, axis1, axis2, s), dtype, s), -1, false, s);
}

array trace(const array& a, int offset, int axis1, int axis2, StreamOrDevice s) {
  return sum(diagonal(a, offset, axis1, axis2, s), -1, false, s);
}

array trace(const array& a, StreamOrDevice s) { return trace(a, 0, 0, 1, s); }

}  // namespace mlx::core
