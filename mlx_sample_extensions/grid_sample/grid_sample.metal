// Kernels of grid_sample. Grids of threads have a row for each picture.
#include <metal_stdlib>

#include "grid_sample/taps.h"
#include "mlx/backend/metal/kernels/utils.h"

using namespace metal;

// Whether the derivatives by the grid's coordinates are wanted too.
constant bool slopes [[function_constant(6)]];
// Channels of a lane in the points' gradients, and whether the last ones have fewer.
constant int per_lane [[function_constant(7)]];
constant bool partial [[function_constant(8)]];
// Whether rows have threads more than there are channels.
constant bool ragged [[function_constant(9)]];

template <typename T>
[[kernel]] void grid_taps(
    constant GridSizes& sizes [[buffer(0)]],
    device const T* grid [[buffer(1)]],
    device uint* pixels [[buffer(2)]],
    device float* weights [[buffer(3)]],
    device float* by_column [[buffer(4)]],
    device float* by_row [[buffer(5)]],
    uint2 position [[thread_position_in_grid]]) {
  const uint picture = position.y;
  const size_t point = size_t(picture) * sizes.points + position.x;
  const float x = grid[2 * point], y = grid[2 * point + 1];
  const Taps values = taps_around(x, y, picture, sizes, column_order, row_order);
  FOR_EACH_TAP {
    pixels[point * taps + t] = values.pixels[t];
    weights[point * taps + t] = values.weights[t];
  }
  if (!slopes) return;
  const Taps columns = taps_around(x, y, picture, sizes, column_order + 1, row_order);
  const Taps rows = taps_around(x, y, picture, sizes, column_order, row_order + 1);
  FOR_EACH_TAP {
    by_column[point * taps + t] = columns.weights[t];
    by_row[point * taps + t] = rows.weights[t];
  }
}

// What a thread does: all channels of one point, or one of them.
struct Work {
  size_t point;
  uint channel;
};

METAL_FUNC Work work_at(uint2 position, constant GridSizes& sizes) {
  const uint row = sizes.row;
  const size_t first_point = size_t(position.y) * sizes.points;
  if (few) return {first_point + position.x, 0};
  return {first_point + position.x / row, position.x % row};
}

#define FOR_EACH_CHANNEL(first) \
  for (uint c = first, left = few ? sizes.channels : 1; left > 0; --left, ++c)

template <typename T>
[[kernel]] void grid_sample(
    constant GridSizes& sizes [[buffer(0)]],
    device const T* x [[buffer(1)]],
    device const T* grid [[buffer(2)]],
    device const uint* pixels [[buffer(3)]],
    device const float* weights [[buffer(4)]],
    device T* out [[buffer(5)]],
    uint2 position [[thread_position_in_grid]]) {
  const Work work = work_at(position, sizes);
  if (ragged && work.channel >= uint(sizes.channels)) return;
  const Taps around =
      few ? taps_around(
                grid[2 * work.point], grid[2 * work.point + 1], position.y, sizes, column_order,
                row_order)
          : taps_at(work.point, pixels, weights);
  FOR_EACH_CHANNEL(work.channel) {
    float sum = 0;
    FOR_EACH_TAP if (around.pixels[t] != sizes.none) {
      sum += around.weights[t] * float(x[size_t(around.pixels[t]) * sizes.channels + c]);
    }
    out[work.point * sizes.channels + c] = T(sum);
  }
}

// The adjoint. Pixels are cleared before.
template <typename T>
[[kernel]] void grid_spread(
    constant GridSizes& sizes [[buffer(0)]],
    device const T* values [[buffer(1)]],
    device const uint* pixels [[buffer(2)]],
    device const float* weights [[buffer(3)]],
    device atomic<float>* out [[buffer(4)]],
    uint2 position [[thread_position_in_grid]]) {
  const Work work = work_at(position, sizes);
  if (ragged && work.channel >= uint(sizes.channels)) return;
  const Taps around = taps_at(work.point, pixels, weights);
  FOR_EACH_CHANNEL(work.channel) {
    const float value = values[work.point * sizes.channels + c];
    FOR_EACH_TAP if (around.pixels[t] != sizes.none) {
      atomic_fetch_add_explicit(
          &out[size_t(around.pixels[t]) * sizes.channels + c],
          around.weights[t] * value,
          memory_order_relaxed);
    }
  }
}

// The same from lists of what falls on each pixel: a thread adds up one channel of one pixel.
template <typename T>
[[kernel]] void grid_gather(
    constant GridSizes& sizes [[buffer(0)]],
    device const T* values [[buffer(1)]],
    device const int* starts [[buffer(2)]],
    device const GridShare* shares [[buffer(3)]],
    device float* out [[buffer(4)]],
    uint2 position [[thread_position_in_grid]]) {
  const uint channels = sizes.channels, row = sizes.row, pixels = sizes.height * sizes.width;
  const uint pixel = position.x / row, channel = position.x % row;
  if (ragged && channel >= channels) return;
  const size_t first_point = size_t(position.y) * sizes.points;
  values += first_point * channels;
  shares += first_point * sizes.taps;
  starts += size_t(position.y) * (pixels + 2);
  float sum = 0;
  for (int i = starts[pixel], last = starts[pixel + 1]; i < last; ++i) {
    const GridShare share = shares[i];
    sum += share.weight * float(values[size_t(share.point) * channels + channel]);
  }
  out[(size_t(position.y) * pixels + pixel) * channels + channel] = sum;
}

// The points' gradients. Where there are many channels, SIMD-groups have a block of them each and
// leave a part of the sum.
template <typename T>
[[kernel]] void grid_gradient(
    constant GridSizes& sizes [[buffer(0)]],
    device const T* x [[buffer(1)]],
    device const T* cotangent [[buffer(2)]],
    device const uint* pixels [[buffer(3)]],
    device const float* by_column [[buffer(4)]],
    device const float* by_row [[buffer(5)]],
    device float2* parts [[buffer(6)]],
    uint2 position [[thread_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]]) {
  const uint channels = sizes.channels, blocks = sizes.blocks;
  const uint part = few ? position.x : position.x / 32;
  const size_t first_point = size_t(position.y) * sizes.points;
  const size_t point = first_point + part / blocks;
  const Taps columns = taps_at(point, pixels, by_column);
  const Taps rows = taps_at(point, pixels, by_row);
  const uint first = few ? 0 : part % blocks * (32 * per_lane) + lane;
  const uint count = few ? channels : per_lane;
  float2 sum = 0;
  for (uint k = 0; k < count; ++k) {
    const uint c = few ? k : first + 32 * k;
    if (partial && c >= channels) break;
    const float g = cotangent[point * channels + c];
    FOR_EACH_TAP if (columns.pixels[t] != sizes.none) {
      const float value = g * float(x[size_t(columns.pixels[t]) * channels + c]);
      sum.x += columns.weights[t] * value;
      sum.y += rows.weights[t] * value;
    }
  }
  if (!few) sum = float2(simd_sum(sum.x), simd_sum(sum.y));
  if (few || lane == 0) parts[first_point * blocks + part] = sum;
}

// Sums of the parts.
template <typename T>
[[kernel]] void grid_join(
    constant GridSizes& sizes [[buffer(0)]],
    device const float2* parts [[buffer(1)]],
    device T* out [[buffer(2)]],
    uint2 position [[thread_position_in_grid]]) {
  const size_t point = size_t(position.y) * sizes.points + position.x;
  float2 sum = 0;
  for (int i = 0; i < sizes.blocks; ++i) sum += parts[point * sizes.blocks + i];
  out[2 * point] = T(sum.x);
  out[2 * point + 1] = T(sum.y);
}

#define instantiate_one(name, type_name, type) \
  instantiate_kernel(#name "_" #type_name, name, type)
#define instantiate_all(type_name, type)          \
  instantiate_one(grid_taps, type_name, type)     \
  instantiate_one(grid_sample, type_name, type)   \
  instantiate_one(grid_spread, type_name, type)   \
  instantiate_one(grid_gather, type_name, type)   \
  instantiate_one(grid_gradient, type_name, type) \
  instantiate_one(grid_join, type_name, type)

instantiate_all(float32, float)
instantiate_all(float16, half)
instantiate_all(bfloat16, bfloat16_t)
