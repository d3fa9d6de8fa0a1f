// Sampling, its adjoint and their derivatives, composed of the three primitives.
#include "grid_sample/linear.h"

#include <limits>
#include <stdexcept>

#include "rules.h"

namespace mlx_sample {

namespace {

// Kernels number the pixels of all pictures, and the samples of each picture, in 32 bits.
void check_sizes(int pictures, int height, int width, int channels, const mx::array& grid) {
  constexpr int64_t kMax = std::numeric_limits<uint32_t>::max();
  int64_t pixels = int64_t(height) * width;
  int64_t points = int64_t(grid.shape(1)) * grid.shape(2);
  if (pixels > kMax / 2 || pixels * pictures >= kMax) {
    throw std::invalid_argument(
        "[grid_sample] x must have fewer than 2^31 pixels in a picture and 2^32 in all, but it "
        "has " +
        std::to_string(pixels) + " in each of " + std::to_string(pictures) + " pictures.");
  }
  if (points > kMax / 2 || points * channels > kMax) {
    throw std::invalid_argument(
        "[grid_sample] grid must have fewer than 2^31 points for a picture, and fewer than 2^32 "
        "times "
        "the number of channels, but it has " +
        std::to_string(points) + " for " + std::to_string(channels) + " channels.");
  }
}

mx::Shape sampled_shape(const mx::array& x, const mx::array& grid) {
  return {x.shape(0), grid.shape(1), grid.shape(2), x.shape(3)};
}

// One coordinate of every point, as a channel.
mx::array coordinate(const mx::array& grid, int which, mx::Stream s) {
  auto stop = grid.shape();
  stop[3] = which + 1;
  return mx::slice(grid, {0, 0, 0, which}, stop, s);
}

mx::array sum_channels(const mx::array& a, const mx::array& b, mx::Stream s) {
  return mx::sum(mx::multiply(a, b, s), 3, true, s);
}

}  // namespace

mx::array sample(const mx::array& x, const mx::array& grid, const Sampling& how, mx::Stream s) {
  check_sizes(x.shape(0), x.shape(1), x.shape(2), x.shape(3), grid);
  auto shape = sampled_shape(x, grid);
  if (how.vanishes()) {
    return mx::zeros(shape, x.dtype(), s);
  }
  return mx::array(shape, x.dtype(), std::make_shared<GridSample>(s, how),
                   {dense(x, s), dense(grid, s)});
}

mx::array spread(const mx::array& values, const mx::array& grid, const Sampling& how, int height,
                 int width, mx::Stream s) {
  check_sizes(values.shape(0), height, width, values.shape(3), grid);
  mx::Shape shape{values.shape(0), height, width, values.shape(3)};
  if (how.vanishes()) {
    return mx::zeros(shape, values.dtype(), s);
  }
  auto sums = mx::array(shape, mx::float32, std::make_shared<GridSpread>(s, how, height, width),
                        {dense(values, s), dense(grid, s)});
  return mx::astype(sums, values.dtype(), s);
}

mx::array sample_moved(const mx::array& x, const mx::array& grid, const mx::array& by,
                       const Sampling& how, mx::Stream s) {
  return mx::add(mx::multiply(coordinate(by, 0, s), sample(x, grid, how.by_column(), s), s),
                 mx::multiply(coordinate(by, 1, s), sample(x, grid, how.by_row(), s), s), s);
}

mx::array spread_moved(const mx::array& values, const mx::array& grid, const mx::array& by,
                       const Sampling& how, int height, int width, mx::Stream s) {
  auto part = [&](int which, const Sampling& derivative) {
    auto moved = mx::multiply(coordinate(by, which, s), values, s);
    return spread(moved, grid, derivative, height, width, s);
  };
  return mx::add(part(0, how.by_column()), part(1, how.by_row()), s);
}

mx::array grid_gradient(const mx::array& x, const mx::array& grid, const mx::array& values,
                        const Sampling& how, mx::Stream s) {
  return mx::concatenate({sum_channels(values, sample(x, grid, how.by_column(), s), s),
                          sum_channels(values, sample(x, grid, how.by_row(), s), s)},
                         3, s);
}

std::vector<mx::array> sample_gradient(const mx::array& x, const mx::array& grid,
                                       const mx::array& cotangent, const Sampling& how,
                                       mx::Stream s) {
  check_sizes(x.shape(0), x.shape(1), x.shape(2), x.shape(3), grid);
  bool fused = how.column_order == 0 && how.row_order == 0 && how.mode != Sampling::Nearest;
  if (!fused) {
    return {spread(cotangent, grid, how, x.shape(1), x.shape(2), s),
            grid_gradient(x, grid, cotangent, how, s)};
  }
  auto both = mx::array::make_arrays({x.shape(), grid.shape()}, {mx::float32, grid.dtype()},
                                     std::make_shared<GridSampleGradient>(s, how),
                                     {dense(x, s), dense(grid, s), dense(cotangent, s)});
  return {mx::astype(both[0], x.dtype(), s), both[1]};
}

}  // namespace mlx_sample
