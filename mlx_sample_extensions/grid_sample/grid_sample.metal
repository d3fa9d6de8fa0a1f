// Kernels of grid_sample. The wide ones give a SIMD-group to each point, whose lanes walk the
// channels; the narrow ones a thread.
#include <metal_stdlib>

#include "grid_sample/sizes.h"
#include "grid_sample/weights.h"
#include "mlx/backend/metal/kernels/utils.h"

using namespace metal;

// What a thread does: some channels of one point.
struct Work {
  uint point;
  int first_channel;
  int step;
};

METAL_FUNC size_t picture_start(uint point, constant GridSizes& sizes) {
  return size_t(point / sizes.points) * sizes.height * sizes.width * sizes.channels;
}

// Whether a pixel is in the picture, and where.
METAL_FUNC bool counts(int row, int column) { return row >= 0 && column >= 0; }

METAL_FUNC size_t pixel_start(int row, int column, constant GridSizes& sizes) {
  return (size_t(row) * sizes.width + column) * sizes.channels;
}

// Runs what follows for the pixels (j, i) that count.
#define FOR_EACH_PIXEL(rows, columns)                              \
  _Pragma("clang loop unroll(full)") for (int j = 0; j < reach; ++j) \
      _Pragma("clang loop unroll(full)") for (int i = 0; i < reach; ++i) \
          if (counts(rows.index[j], columns.index[i]))

template <typename T>
METAL_FUNC void sample(
    device const T* x,
    device const T* grid,
    device T* out,
    constant GridSizes& sizes,
    Work work) {
  const auto columns = pixels_around(grid[2 * work.point], sizes.width, column_order);
  const auto rows = pixels_around(grid[2 * work.point + 1], sizes.height, row_order);
  x += picture_start(work.point, sizes);
  out += size_t(work.point) * sizes.channels;
  for (int c = work.first_channel; c < sizes.channels; c += work.step) {
    float sum = 0;
    FOR_EACH_PIXEL(rows, columns) {
      const size_t at = pixel_start(rows.index[j], columns.index[i], sizes) + c;
      sum += rows.weights[j] * columns.weights[i] * float(x[at]);
    }
    out[c] = T(sum);
  }
}

template <typename T>
METAL_FUNC void spread(
    device const T* values,
    device const T* grid,
    device atomic<float>* out,
    constant GridSizes& sizes,
    Work work) {
  const auto columns = pixels_around(grid[2 * work.point], sizes.width, column_order);
  const auto rows = pixels_around(grid[2 * work.point + 1], sizes.height, row_order);
  out += picture_start(work.point, sizes);
  values += size_t(work.point) * sizes.channels;
  for (int c = work.first_channel; c < sizes.channels; c += work.step) {
    const float value = values[c];
    FOR_EACH_PIXEL(rows, columns) {
      const size_t at = pixel_start(rows.index[j], columns.index[i], sizes) + c;
      atomic_fetch_add_explicit(
          &out[at], rows.weights[j] * columns.weights[i] * value, memory_order_relaxed);
    }
  }
}

// Adds to the gradient of the pictures; returns this thread's part of the point's own.
template <typename T>
METAL_FUNC float2 sample_gradient(
    device const T* x,
    device const T* grid,
    device const T* cotangent,
    device atomic<float>* x_grad,
    constant GridSizes& sizes,
    Work work) {
  const auto columns = pixels_around(grid[2 * work.point], sizes.width, 0);
  const auto rows = pixels_around(grid[2 * work.point + 1], sizes.height, 0);
  const auto column_slopes = pixels_around(grid[2 * work.point], sizes.width, 1);
  const auto row_slopes = pixels_around(grid[2 * work.point + 1], sizes.height, 1);
  const size_t start = picture_start(work.point, sizes);
  x += start;
  x_grad += start;
  cotangent += size_t(work.point) * sizes.channels;
  float2 gradient = 0;
  for (int c = work.first_channel; c < sizes.channels; c += work.step) {
    const float g = cotangent[c];
    FOR_EACH_PIXEL(rows, columns) {
      const size_t at = pixel_start(rows.index[j], columns.index[i], sizes) + c;
      atomic_fetch_add_explicit(
          &x_grad[at], rows.weights[j] * columns.weights[i] * g, memory_order_relaxed);
      const float value = g * float(x[at]);
      gradient.x += rows.weights[j] * column_slopes.weights[i] * value;
      gradient.y += row_slopes.weights[j] * columns.weights[i] * value;
    }
  }
  return gradient;
}

#define WIDE_POSITION                                          \
  uint group [[threadgroup_position_in_grid]],                 \
      uint simdgroup [[simdgroup_index_in_threadgroup]],       \
      uint lane [[thread_index_in_simdgroup]]
#define WIDE_WORK Work{group * GRID_SAMPLE_SIMDGROUPS + simdgroup, int(lane), 32}
#define NARROW_POSITION uint point [[thread_position_in_grid]]
#define NARROW_WORK Work{point, 0, 1}

// The kernels `name`_wide and `name`_narrow for functions of two inputs.
#define sampling_kernels(name, function, result)                    \
  template <typename T>                                             \
  [[kernel]] void name##_wide(                                      \
      constant GridSizes& sizes [[buffer(0)]],                      \
      device const T* values [[buffer(1)]],                         \
      device const T* grid [[buffer(2)]],                           \
      device result* out [[buffer(3)]],                             \
      WIDE_POSITION) {                                              \
    function(values, grid, out, sizes, WIDE_WORK);                  \
  }                                                                 \
  template <typename T>                                             \
  [[kernel]] void name##_narrow(                                    \
      constant GridSizes& sizes [[buffer(0)]],                      \
      device const T* values [[buffer(1)]],                         \
      device const T* grid [[buffer(2)]],                           \
      device result* out [[buffer(3)]],                             \
      NARROW_POSITION) {                                            \
    function(values, grid, out, sizes, NARROW_WORK);                \
  }

sampling_kernels(grid_sample, sample, T)
sampling_kernels(grid_spread, spread, atomic<float>)

template <typename T>
[[kernel]] void grid_sample_gradient_wide(
    constant GridSizes& sizes [[buffer(0)]],
    device const T* x [[buffer(1)]],
    device const T* grid [[buffer(2)]],
    device const T* cotangent [[buffer(3)]],
    device atomic<float>* x_grad [[buffer(4)]],
    device T* grid_grad [[buffer(5)]],
    WIDE_POSITION) {
  const Work work = WIDE_WORK;
  const float2 part = sample_gradient(x, grid, cotangent, x_grad, sizes, work);
  const float2 gradient(simd_sum(part.x), simd_sum(part.y));
  if (lane == 0) {
    grid_grad[2 * work.point] = T(gradient.x);
    grid_grad[2 * work.point + 1] = T(gradient.y);
  }
}

template <typename T>
[[kernel]] void grid_sample_gradient_narrow(
    constant GridSizes& sizes [[buffer(0)]],
    device const T* x [[buffer(1)]],
    device const T* grid [[buffer(2)]],
    device const T* cotangent [[buffer(3)]],
    device atomic<float>* x_grad [[buffer(4)]],
    device T* grid_grad [[buffer(5)]],
    NARROW_POSITION) {
  const float2 gradient = sample_gradient(x, grid, cotangent, x_grad, sizes, NARROW_WORK);
  grid_grad[2 * point] = T(gradient.x);
  grid_grad[2 * point + 1] = T(gradient.y);
}

#define instantiate_one(name, type_name, type) \
  instantiate_kernel(#name "_" #type_name, name, type)
#define instantiate_both(name, type_name, type) \
  instantiate_one(name##_wide, type_name, type) \
  instantiate_one(name##_narrow, type_name, type)
#define instantiate_all(type_name, type)              \
  instantiate_both(grid_sample, type_name, type)      \
  instantiate_both(grid_spread, type_name, type)      \
  instantiate_both(grid_sample_gradient, type_name, type)

instantiate_all(float32, float)
instantiate_all(float16, half)
instantiate_all(bfloat16, bfloat16_t)
