// grid_sample: the operation, with checks of its arguments.
#include "grid_sample/grid_sample.h"

#include "grid_sample/linear.h"
#include "indices.h"
#include "mlx/utils.h"

namespace mlx_sample {

namespace {

int position(const std::string& name, const std::string& argument,
             std::initializer_list<const char*> allowed) {
  std::string list;
  for (auto it = allowed.begin(); it != allowed.end(); ++it) {
    if (name == *it) {
      return static_cast<int>(it - allowed.begin());
    }
    list += std::string(list.empty() ? "" : ", ") + *it;
  }
  refuse("grid_sample", "Invalid " + argument + " '" + name + "': expected one of " + list + ".");
}

void check(const mx::array& x, const mx::array& grid) {
  if (x.ndim() != 4) {
    refuse("grid_sample", "x must have shape (N, H, W, C), but it has " + std::to_string(x.ndim()) +
                              " dimensions.");
  }
  if (grid.ndim() != 4 || grid.shape(3) != 2) {
    refuse("grid_sample", "grid must have shape (N, H, W, 2), but it has shape " +
                              mx::shape_to_string(grid.shape()) + ".");
  }
  if (x.shape(0) != grid.shape(0)) {
    refuse("grid_sample", "x and grid must have the same length along axis 0, but they have " +
                              std::to_string(x.shape(0)) + " and " + std::to_string(grid.shape(0)) +
                              ".");
  }
  if (x.shape(1) == 0 || x.shape(2) == 0) {
    refuse("grid_sample", "x must have at least one pixel, but it has shape " +
                              mx::shape_to_string(x.shape()) + ".");
  }
}

mx::Dtype common_type(const mx::array& x, const mx::array& grid) {
  auto promoted = mx::promote_types(x.dtype(), grid.dtype());
  auto dtype = mx::issubdtype(promoted, mx::inexact) ? promoted : mx::float32;
  if (dtype != mx::float32 && dtype != mx::float16 && dtype != mx::bfloat16) {
    refuse("grid_sample",
           "x and grid must be float32, float16, bfloat16 or integers, but together they are " +
               mx::dtype_to_string(dtype) + ".");
  }
  return dtype;
}

}  // namespace

Sampling Sampling::by_column() const {
  auto result = *this;
  ++result.column_order;
  return result;
}

Sampling Sampling::by_row() const {
  auto result = *this;
  ++result.row_order;
  return result;
}

bool Sampling::vanishes() const {
  int degree = mode == Nearest ? 0 : mode == Bilinear ? 1 : 3;
  return column_order > degree || row_order > degree;
}

mx::array grid_sample(const mx::array& x, const mx::array& grid, const std::string& mode,
                      const std::string& padding_mode, bool align_corners, mx::StreamOrDevice s) {
  Sampling how;
  how.mode = position(mode, "mode", {"bilinear", "nearest", "bicubic"});
  how.padding = position(padding_mode, "padding_mode", {"zeros", "border", "reflection"});
  how.align_corners = align_corners;
  check(x, grid);
  auto dtype = common_type(x, grid);
  return sample(mx::astype(x, dtype, s), mx::astype(grid, dtype, s), how, mx::to_stream(s));
}

}  // namespace mlx_sample
