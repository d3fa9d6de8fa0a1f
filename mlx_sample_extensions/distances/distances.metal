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

// A SIMD-group for each row: the gradient by its point of sum(g * d). Columns' points by
// coordinates.
[[kernel]] void pairwise_gradient(
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
  a += (int64_t(group.z) * sizes.rows + row) * sizes.dims;
  b += int64_t(group.z) * sizes.columns * sizes.dims;
  const int64_t start =
      int64_t(group.z) * sizes.rows * sizes.columns + int64_t(row) * sizes.row_step;
  out += (int64_t(group.z) * sizes.rows + row) * sizes.dims;
  for (int base = 0; base < sizes.dims; base += DISTANCE_DIMS) {
    const int dims = metal::min(DISTANCE_DIMS, sizes.dims - base);
    float sums[DISTANCE_DIMS] = {};
    for (int j = lane; j < sizes.columns; j += 32) {
      const int64_t pair = start + int64_t(j) * sizes.column_step;
      const float distance = d[pair];
      float w = g[pair];
      if (metric == 0) w = distance > 0 ? w / distance : 0.0f;
      if (metric == 1) w = 2 * w;
#pragma clang loop unroll(full)
      for (int k = 0; k < DISTANCE_DIMS; ++k) {
        if (k < dims) {
          const float difference = a[base + k] - b[int64_t(base + k) * sizes.columns + j];
          sums[k] += w * (metric == 2 ? metal::sign(difference) : difference);
        }
      }
    }
#pragma clang loop unroll(full)
    for (int k = 0; k < DISTANCE_DIMS; ++k) {
      const float sum = metal::simd_sum(sums[k]);
      if (k < dims && lane == 0) out[base + k] = sum;
    }
  }
}

instantiate_kernel("pairwise_distance_float32", pairwise_distance, float)
instantiate_kernel("pairwise_distance_float16", pairwise_distance, half)
instantiate_kernel("pairwise_distance_bfloat16", pairwise_distance, bfloat16_t)
