// Kernels of grid_sample. The grid of threads has a row for each picture.
#include <metal_stdlib>

#include "grid_sample/taps.h"
#include "mlx/backend/metal/kernels/utils.h"

using namespace metal;

// The channels of a lane, at most two, and whether the last lane has fewer.
constant int per_lane [[function_constant(6)]];
constant bool partial [[function_constant(7)]];
// Whether a row has more threads than there are channels.
constant bool ragged [[function_constant(8)]];

template <typename T>
[[kernel]] void grid_taps(
    constant GridSizes& sizes [[buffer(0)]],
    device const T* grid [[buffer(1)]],
    device uint* pixels [[buffer(2)]],
    device float* weights [[buffer(3)]],
    uint2 position [[thread_position_in_grid]]) {
  const uint picture = position.y;
  const size_t point = size_t(picture) * sizes.points + position.x;
  const Taps around = taps_around(
      grid[2 * point], grid[2 * point + 1], picture, sizes, column_order, row_order);
  FOR_EACH_TAP {
    pixels[point * taps + t] = around.pixels[t];
    weights[point * taps + t] = around.weights[t];
  }
}

// The work of a thread: all channels of one point, or one of them.
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

// The adjoint. The pixels are zero before.
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

// The same from lists of each pixel's contributions: a thread adds up one channel of one pixel.
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
  shares += first_point * taps;
  starts += size_t(position.y) * (pixels + 2);
  float sum = 0;
  for (int i = starts[pixel], last = starts[pixel + 1]; i < last; ++i) {
    const GridShare share = shares[i];
    sum += share.weight * float(values[size_t(share.tap / taps) * channels + channel]);
  }
  out[(size_t(position.y) * pixels + pixel) * channels + channel] = sum;
}

// The channels of a lane if SIMD-groups process blocks of a pixel's or a point's channels.
#define FOR_EACH_LANE_CHANNEL                                                          \
  _Pragma("clang loop unroll(full)") for (uint k = 0, c = first_channel; k < per_lane; \
                                          ++k, c += 32) if (!partial || c < channels)

// Adds up what the lanes of a SIMD-group have for each tap of a point, and stores it.
METAL_FUNC void store_products(thread const float* sums, device float* products, uint blocks,
                               uint lane) {
  float mine = 0;
  FOR_EACH_TAP {
    const float sum = simd_sum(sums[t]);
    if (lane == uint(t)) mine = sum;
  }
  if (lane < uint(taps)) products[lane * blocks] = mine;
}

// The same with a SIMD-group for a pixel. It also stores, for each tap, the product of its pixel's
// channels in x with its point's values: the points' gradients are computed from these.
template <typename T>
[[kernel]] void grid_gather_products(
    constant GridSizes& sizes [[buffer(0)]],
    device const T* values [[buffer(1)]],
    device const int* starts [[buffer(2)]],
    device const GridShare* shares [[buffer(3)]],
    device float* out [[buffer(4)]],
    device const T* x [[buffer(5)]],
    device float* products [[buffer(6)]],
    uint2 position [[thread_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]]) {
  const uint channels = sizes.channels, blocks = sizes.blocks, pixels = sizes.height * sizes.width;
  const uint part = position.x / 32, pixel = part / blocks, block = part % blocks;
  const uint first_channel = block * (32 * per_lane) + lane;
  const size_t first_point = size_t(position.y) * sizes.points;
  const size_t element = (size_t(position.y) * pixels + pixel) * channels;
  values += first_point * channels;
  shares += first_point * taps;
  products += first_point * taps * blocks;
  starts += size_t(position.y) * (pixels + 2);
  const int first = starts[pixel], last = starts[pixel + 1];
  float here[2] = {0, 0}, sum[2] = {0, 0};
  if (first < last) FOR_EACH_LANE_CHANNEL here[k] = x[element + c];
  for (int i = first; i < last; ++i) {
    const GridShare share = shares[i];
    const size_t row = size_t(share.tap / taps) * channels;
    float product = 0;
    FOR_EACH_LANE_CHANNEL {
      const float value = values[row + c];
      sum[k] += share.weight * value;
      product += here[k] * value;
    }
    product = simd_sum(product);
    if (lane == 0) products[size_t(share.tap) * blocks + block] = product;
  }
  FOR_EACH_LANE_CHANNEL out[element + c] = sum[k];
}

// The adjoint and these products, a SIMD-group for a block of a point's channels. The pixels are
// zero before.
template <typename T>
[[kernel]] void grid_spread_products(
    constant GridSizes& sizes [[buffer(0)]],
    device const T* values [[buffer(1)]],
    device const uint* pixels [[buffer(2)]],
    device const float* weights [[buffer(3)]],
    device atomic<float>* out [[buffer(4)]],
    device const T* x [[buffer(5)]],
    device float* products [[buffer(6)]],
    uint2 position [[thread_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]]) {
  const uint channels = sizes.channels, blocks = sizes.blocks;
  const uint part = position.x / 32, block = part % blocks;
  const uint first_channel = block * (32 * per_lane) + lane;
  const size_t point = size_t(position.y) * sizes.points + part / blocks;
  const Taps around = taps_at(point, pixels, weights);
  float mine[2] = {0, 0}, sums[16];
  FOR_EACH_LANE_CHANNEL mine[k] = values[point * channels + c];
  // All reads come first: none of them then waits for an addition.
  FOR_EACH_TAP {
    sums[t] = 0;
    if (around.pixels[t] == sizes.none) continue;
    device const T* from = x + size_t(around.pixels[t]) * channels;
    FOR_EACH_LANE_CHANNEL sums[t] += mine[k] * float(from[c]);
  }
  FOR_EACH_TAP if (around.pixels[t] != sizes.none) {
    device atomic<float>* to = out + size_t(around.pixels[t]) * channels;
    FOR_EACH_LANE_CHANNEL {
      atomic_fetch_add_explicit(&to[c], around.weights[t] * mine[k], memory_order_relaxed);
    }
  }
  store_products(sums, products + point * taps * blocks + block, blocks, lane);
}

// Only these products. With few channels a thread computes all channels of a point.
template <typename T>
[[kernel]] void grid_products(
    constant GridSizes& sizes [[buffer(0)]],
    device const T* x [[buffer(1)]],
    device const T* values [[buffer(2)]],
    device const uint* pixels [[buffer(3)]],
    device float* products [[buffer(4)]],
    uint2 position [[thread_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]]) {
  const uint channels = sizes.channels, blocks = sizes.blocks;
  const uint part = few ? position.x : position.x / 32, block = part % blocks;
  const size_t point = size_t(position.y) * sizes.points + part / blocks;
  const uint first = few ? 0 : block * (32 * per_lane) + lane;
  const uint count = few ? channels : per_lane;
  pixels += point * taps;
  products += point * taps * blocks + block;
  float sums[16];
  FOR_EACH_TAP sums[t] = 0;
  for (uint k = 0; k < count; ++k) {
    const uint c = few ? k : first + 32 * k;
    if (partial && c >= channels) break;
    const float value = values[point * channels + c];
    FOR_EACH_TAP if (pixels[t] != sizes.none) {
      sums[t] += value * float(x[size_t(pixels[t]) * channels + c]);
    }
  }
  if (few) {
    FOR_EACH_TAP products[t] = sums[t];
    return;
  }
  store_products(sums, products, blocks, lane);
}

// The points' gradients.
template <typename T>
[[kernel]] void grid_gradient(
    constant GridSizes& sizes [[buffer(0)]],
    device const T* grid [[buffer(1)]],
    device const float* products [[buffer(2)]],
    device T* out [[buffer(3)]],
    uint2 position [[thread_position_in_grid]]) {
  const size_t point = size_t(position.y) * sizes.points + position.x;
  const float x = grid[2 * point], y = grid[2 * point + 1];
  const Taps columns = taps_around(x, y, position.y, sizes, column_order + 1, row_order);
  const Taps rows = taps_around(x, y, position.y, sizes, column_order, row_order + 1);
  float2 sum = 0;
  FOR_EACH_TAP if (columns.pixels[t] != sizes.none) {
    for (int b = 0; b < sizes.blocks; ++b) {
      const float product = products[(point * taps + t) * sizes.blocks + b];
      sum += product * float2(columns.weights[t], rows.weights[t]);
    }
  }
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
  instantiate_one(grid_gather_products, type_name, type) \
  instantiate_one(grid_spread_products, type_name, type) \
  instantiate_one(grid_products, type_name, type) \
  instantiate_one(grid_gradient, type_name, type)

instantiate_all(float32, float)
instantiate_all(float16, half)
instantiate_all(bfloat16, bfloat16_t)
