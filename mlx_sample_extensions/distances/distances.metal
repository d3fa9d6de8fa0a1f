// Kernels of distances between all pairs of points.
#include <metal_stdlib>

#include "mlx/backend/metal/kernels/utils.h"
#include "distances/sizes.h"

constant int metric [[function_constant(0)]];  // 0 euclidean, 1 squared_euclidean, 2 manhattan

// A thread computes a few rows of one column; neighbours have neighbouring columns. The points of
// the columns come by coordinates: b[k * columns + j].
template <typename T>
[[kernel]] void pairwise_distance(
    constant const DistanceSizes& sizes [[buffer(0)]],
    const device float* a [[buffer(1)]],
    const device float* b [[buffer(2)]],
    device T* out [[buffer(3)]],
    uint3 at [[thread_position_in_grid]]) {
  const int first = at.y * DISTANCE_ROWS;
  a += (int64_t(at.z) * sizes.rows + first) * sizes.dims;
  b += int64_t(at.z) * sizes.columns * sizes.dims + at.x;
  out += (int64_t(at.z) * sizes.rows + first) * sizes.columns + at.x;
  const int rows = metal::min(DISTANCE_ROWS, sizes.rows - first);
  float sums[DISTANCE_ROWS] = {};
  for (int k = 0; k < sizes.dims; ++k) {
    const float other = b[int64_t(k) * sizes.columns];
#pragma clang loop unroll(full)
    for (int r = 0; r < DISTANCE_ROWS; ++r) {
      const float difference = a[metal::min(r, rows - 1) * sizes.dims + k] - other;
      sums[r] = metric == 2 ? sums[r] + metal::abs(difference)
                            : metal::fma(difference, difference, sums[r]);
    }
  }
#pragma clang loop unroll(full)
  for (int r = 0; r < DISTANCE_ROWS; ++r) {
    if (r < rows) {
      out[int64_t(r) * sizes.columns] = T(metric == 0 ? metal::sqrt(sums[r]) : sums[r]);
    }
  }
}

// The factor of a pair's difference, or of its signs.
METAL_FUNC float weight(float distance, float g) {
  if (metric == 0) return distance > 0 ? g / distance : 0.0f;
  return metric == 1 ? 2 * g : g;
}

METAL_FUNC float pull(float w, float difference) {
  return w * (metric == 2 ? metal::sign(difference) : difference);
}

// The gradient of sum(g * d) by the rows' points: a SIMD-group for each, and some of its
// coordinates. The columns' points come by coordinates.
[[kernel]] void pairwise_gradient_of_rows(
    constant const DistanceSizes& sizes [[buffer(0)]],
    const device float* a [[buffer(1)]],
    const device float* b [[buffer(2)]],
    const device float* d [[buffer(3)]],
    const device float* g [[buffer(4)]],
    device float* out [[buffer(5)]],
    uint3 group [[threadgroup_position_in_grid]],
    uint simd_group [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]) {
  const int row = group.x * DISTANCE_SIMDGROUPS + simd_group;
  if (row >= sizes.rows) return;
  const int base = group.y * DISTANCE_DIMS;
  const int dims = metal::min(DISTANCE_DIMS, sizes.dims - base);
  const int64_t point = (int64_t(group.z) * sizes.rows + row) * sizes.dims + base;
  const int64_t pairs = (int64_t(group.z) * sizes.rows + row) * sizes.columns;
  b += (int64_t(group.z) * sizes.dims + base) * sizes.columns;
  float sums[DISTANCE_DIMS] = {};
  for (int j = lane; j < sizes.columns; j += 32) {
    const float w = weight(d[pairs + j], g[pairs + j]);
#pragma clang loop unroll(full)
    for (int k = 0; k < DISTANCE_DIMS; ++k) {
      if (k < dims) sums[k] += pull(w, a[point + k] - b[int64_t(k) * sizes.columns + j]);
    }
  }
#pragma clang loop unroll(full)
  for (int k = 0; k < DISTANCE_DIMS; ++k) {
    const float sum = metal::simd_sum(sums[k]);
    if (k < dims && lane == 0) out[point + k] = sum;
  }
}

// The same by the columns' points: a thread for each, and some of its coordinates, so that
// neighbouring threads read neighbouring pairs.
[[kernel]] void pairwise_gradient_of_columns(
    constant const DistanceSizes& sizes [[buffer(0)]],
    const device float* a [[buffer(1)]],
    const device float* b [[buffer(2)]],
    const device float* d [[buffer(3)]],
    const device float* g [[buffer(4)]],
    device float* out [[buffer(5)]],
    uint3 at [[thread_position_in_grid]]) {
  const int64_t column = at.x;
  const int base = at.y * DISTANCE_DIMS;
  const int dims = metal::min(DISTANCE_DIMS, sizes.dims - base);
  a += int64_t(at.z) * sizes.rows * sizes.dims + base;
  d += int64_t(at.z) * sizes.rows * sizes.columns + column;
  g += int64_t(at.z) * sizes.rows * sizes.columns + column;
  float point[DISTANCE_DIMS] = {};
#pragma clang loop unroll(full)
  for (int k = 0; k < DISTANCE_DIMS; ++k) {
    if (k < dims) point[k] = b[(int64_t(at.z) * sizes.dims + base + k) * sizes.columns + column];
  }
  float sums[DISTANCE_DIMS] = {};
  for (int i = 0; i < sizes.rows; ++i) {
    const int64_t pair = int64_t(i) * sizes.columns;
    const float w = weight(d[pair], g[pair]);
#pragma clang loop unroll(full)
    for (int k = 0; k < DISTANCE_DIMS; ++k) {
      if (k < dims) sums[k] += pull(w, point[k] - a[int64_t(i) * sizes.dims + k]);
    }
  }
  out += (int64_t(at.z) * sizes.columns + column) * sizes.dims + base;
#pragma clang loop unroll(full)
  for (int k = 0; k < DISTANCE_DIMS; ++k) {
    if (k < dims) out[k] = sums[k];
  }
}

instantiate_kernel("pairwise_distance_float32", pairwise_distance, float)
instantiate_kernel("pairwise_distance_float16", pairwise_distance, half)
instantiate_kernel("pairwise_distance_bfloat16", pairwise_distance, bfloat16_t)
