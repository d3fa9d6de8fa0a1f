// Kernels of distances of listed pairs of points, and of their gradients.
#include <metal_stdlib>

#include "mlx/backend/metal/kernels/utils.h"
#include "distances/sizes.h"

using namespace metal;

constant int metric [[function_constant(0)]];  // a value of Metric
constant int few_dims [[function_constant(1)]];  // the number of coordinates, or 0: any

constant bool euclidean = metric == 0;
constant bool manhattan = metric == 2;
constant bool cosine = metric == 3;

// Sums over the coordinates of a pair.
struct PairSums {
  float sum = 0;  // of differences, squared or not, or of products
  float own = 0;  // of squares
  float other = 0;

  METAL_FUNC void add(float x, float y) {
    if (cosine) {
      sum = fma(x, y, sum);
      own = fma(x, x, own);
      other = fma(y, y, other);
    } else {
      sum = manhattan ? sum + abs(x - y) : fma(x - y, x - y, sum);
    }
  }
  METAL_FUNC PairSums over_lanes() const {
    PairSums all = *this;
    all.sum = simd_sum(sum);
    if (cosine) {
      all.own = simd_sum(own);
      all.other = simd_sum(other);
    }
    return all;
  }
  METAL_FUNC float distance() const {
    if (cosine) {
      const float lengths = sqrt(own) * sqrt(other);
      return lengths > 0 ? 1 - sum / lengths : 1.0f;
    }
    return euclidean ? sqrt(sum) : sum;
  }
};

// A pair's contribution to the gradient in x: a multiple of the difference or of its signs, or
// multiples of both points.
struct PairPull {
  float own;
  float other;

  METAL_FUNC PairPull(float d, float g, float length, float other_length) : own(g), other(-g) {
    if (cosine) {
      const float both = length * other_length;
      own = both > 0 ? g * (1 - d) / (length * length) : 0.0f;
      other = both > 0 ? -g / both : 0.0f;
    } else if (!manhattan) {
      own = euclidean ? (d > 0 ? g / d : 0.0f) : 2 * g;
      other = -own;
    }
  }
  METAL_FUNC float at(float x, float y) const {
    if (cosine) return fma(own, x, other * y);
    return own * (manhattan ? sign(x - y) : x - y);
  }
};

METAL_FUNC int dims_of(constant PairedSizes& sizes) { return few_dims > 0 ? few_dims : sizes.dims; }

// A thread for each pair.
template <typename T>
[[kernel]] void paired_distance_narrow(
    constant const PairedSizes& sizes [[buffer(0)]],
    const device T* a [[buffer(1)]],
    const device T* b [[buffer(2)]],
    const device int* i [[buffer(3)]],
    const device int* j [[buffer(4)]],
    device T* out [[buffer(5)]],
    uint pair [[thread_position_in_grid]]) {
  const int dims = dims_of(sizes);
  a += size_t(i[pair]) * dims;
  b += size_t(j[pair]) * dims;
  PairSums sums;
  for (int k = 0; k < dims; ++k) sums.add(float(a[k]), float(b[k]));
  out[pair] = T(sums.distance());
}

// A SIMD-group for 32 pairs, a few at a time: lanes process coordinates.
template <typename T>
[[kernel]] void paired_distance_wide(
    constant const PairedSizes& sizes [[buffer(0)]],
    const device T* a [[buffer(1)]],
    const device T* b [[buffer(2)]],
    const device int* i [[buffer(3)]],
    const device int* j [[buffer(4)]],
    device T* out [[buffer(5)]],
    uint pair [[thread_position_in_grid]],
    uint thread_lane [[thread_index_in_simdgroup]]) {
  const int lane = thread_lane;
  const int first = pair - lane;
  const int count = min(32, sizes.pairs - first);
  if (count <= 0) return;
  float own = 0;
  for (int t = 0; t < count; t += PAIRED_TOGETHER) {
    const device T* x[PAIRED_TOGETHER];
    const device T* y[PAIRED_TOGETHER];
    PairSums sums[PAIRED_TOGETHER];
#pragma clang loop unroll(full)
    for (int n = 0; n < PAIRED_TOGETHER; ++n) {
      const int at = first + min(t + n, count - 1);
      x[n] = a + size_t(i[at]) * sizes.dims;
      y[n] = b + size_t(j[at]) * sizes.dims;
    }
    for (int k = 0; k < sizes.dims; k += 32) {
      if (k + lane < sizes.dims) {
#pragma clang loop unroll(full)
        for (int n = 0; n < PAIRED_TOGETHER; ++n) {
          sums[n].add(float((x[n] + k)[lane]), float((y[n] + k)[lane]));
        }
      }
    }
#pragma clang loop unroll(full)
    for (int n = 0; n < PAIRED_TOGETHER; ++n) {
      const float distance = sums[n].over_lanes().distance();
      own = lane == t + n ? distance : own;
    }
  }
  if (lane < count) out[pair] = T(own);
}

// The gradient in the points of a. A thread for each point and some of its coordinates loops over
// the point's pairs.
template <typename T>
[[kernel]] void paired_gradient_narrow(
    constant const PairedSizes& sizes [[buffer(0)]],
    const device T* a [[buffer(1)]],
    const device T* b [[buffer(2)]],
    const device int* j [[buffer(3)]],
    const device T* g [[buffer(4)]],
    const device T* d [[buffer(5)]],
    const device int* order [[buffer(6)]],
    const device int* offsets [[buffer(7)]],
    const device float* lengths [[buffer(8)]],
    const device float* other_lengths [[buffer(9)]],
    device T* out [[buffer(10)]],
    uint2 at [[thread_position_in_grid]]) {
  const int row = at.x;
  const int dims = dims_of(sizes);
  const int base = at.y * PAIRED_DIMS;
  const int count = min(PAIRED_DIMS, dims - base);
  a += size_t(row) * dims + base;
  out += size_t(row) * dims + base;
  b += base;
  float point[PAIRED_DIMS] = {};
  float sums[PAIRED_DIMS] = {};
#pragma clang loop unroll(full)
  for (int k = 0; k < PAIRED_DIMS; ++k) {
    if (k < count) point[k] = float(a[k]);
  }
  const float length = cosine ? lengths[row] : 0.0f;
  for (int place = offsets[row]; place < offsets[row + 1]; ++place) {
    const int pair = order[place];
    const int other = j[pair];
    const float other_length = cosine ? other_lengths[other] : 0.0f;
    const PairPull pull(float(d[pair]), float(g[pair]), length, other_length);
    const device T* y = b + size_t(other) * dims;
#pragma clang loop unroll(full)
    for (int k = 0; k < PAIRED_DIMS; ++k) {
      if (k < count) sums[k] += pull.at(point[k], float(y[k]));
    }
  }
#pragma clang loop unroll(full)
  for (int k = 0; k < PAIRED_DIMS; ++k) {
    if (k < count) out[k] = T(sums[k]);
  }
}

// A SIMD-group for each point and 32 of its coordinates.
template <typename T>
[[kernel]] void paired_gradient_wide(
    constant const PairedSizes& sizes [[buffer(0)]],
    const device T* a [[buffer(1)]],
    const device T* b [[buffer(2)]],
    const device int* j [[buffer(3)]],
    const device T* g [[buffer(4)]],
    const device T* d [[buffer(5)]],
    const device int* order [[buffer(6)]],
    const device int* offsets [[buffer(7)]],
    const device float* lengths [[buffer(8)]],
    const device float* other_lengths [[buffer(9)]],
    device T* out [[buffer(10)]],
    uint2 group [[threadgroup_position_in_grid]],
    uint simd_group [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]) {
  const int row = group.x * PAIRED_SIMDGROUPS + simd_group;
  if (row >= sizes.rows) return;
  const int base = group.y * 32;
  const bool inside = base + int(lane) < sizes.dims;
  const size_t start = size_t(row) * sizes.dims + base;
  const float x = inside ? float((a + start)[lane]) : 0.0f;
  float sum = 0;
  const float length = cosine ? lengths[row] : 0.0f;
  for (int place = offsets[row]; place < offsets[row + 1]; ++place) {
    const int pair = order[place];
    const int other = j[pair];
    const float other_length = cosine ? other_lengths[other] : 0.0f;
    const PairPull pull(float(d[pair]), float(g[pair]), length, other_length);
    if (inside) sum += pull.at(x, float((b + size_t(other) * sizes.dims + base)[lane]));
  }
  if (inside) (out + start)[lane] = T(sum);
}

#define instantiate_paired(name, type)                                       \
  instantiate_kernel("paired_distance_narrow_" #name, paired_distance_narrow, type) \
  instantiate_kernel("paired_distance_wide_" #name, paired_distance_wide, type)     \
  instantiate_kernel("paired_gradient_narrow_" #name, paired_gradient_narrow, type) \
  instantiate_kernel("paired_gradient_wide_" #name, paired_gradient_wide, type)

instantiate_paired(float32, float)
instantiate_paired(float16, half)
instantiate_paired(bfloat16, bfloat16_t)
