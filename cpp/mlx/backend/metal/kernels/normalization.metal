// RMS normalisation and layer normalisation: a SIMD-group per row, or a threadgroup. Weights and
// biases are float.
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/lanes.h"
#include "mlx/backend/metal/kernels/reduce_ops.h"
#include "mlx/backend/metal/kernels/shared_row.h"

struct NormalizationParams {
  uint32_t length;
  uint32_t rows;
  float eps;
  uint32_t weight_step, bias_step;  // between their elements, where threadgroups take rows
};

// An element x of a row becomes (x - mean) * scale.
struct RowScale {
  float mean;
  float scale;
};

template <bool Centered, typename T>
inline RowScale scale_of(const device T* row, constant const NormalizationParams& p, uint lane) {
  float mean = 0.0f;
  if constexpr (Centered) {
    float sum = 0.0f;
    for_each_of_lane(0, p.length, lane, [&](uint i) { sum += static_cast<float>(row[i]); });
    mean = reduce_lanes<Sum>(sum) / p.length;
  }
  float squares = 0.0f;
  for_each_of_lane(0, p.length, lane, [&](uint i) {
    const float x = static_cast<float>(row[i]) - mean;
    squares += x * x;
  });
  return {mean, 1.0f / precise::sqrt(reduce_lanes<Sum>(squares) / p.length + p.eps)};
}

// Prefetches the next row while a row is written.
template <bool Centered, typename T>
[[kernel]] void normalize(const device T* in [[buffer(0)]],
                          const device float* weight [[buffer(1)]],
                          const device float* bias [[buffer(2)]], device T* out [[buffer(3)]],
                          constant const NormalizationParams& p [[buffer(4)]],
                          uint position [[thread_position_in_grid]],
                          uint lane [[thread_index_in_simdgroup]]) {
  in += static_cast<int64_t>(position / kLanes) * p.length;
  out += static_cast<int64_t>(position / kLanes) * p.length;
  const RowScale m = scale_of<Centered>(in, p, lane);
  for_each_of_lane(0, p.length, lane, [&](uint i) {
    prefetch(in + p.length + i);
    const float x = (static_cast<float>(in[i]) - m.mean) * m.scale * weight[i];
    out[i] = convert<T>(Centered ? x + bias[i] : x);
  });
}

template <bool Centered, typename T, uint most>
[[kernel]] void normalize_shared(
    const device T* in [[buffer(0)]], const device float* weight [[buffer(1)]],
    const device float* bias [[buffer(2)]], device T* out [[buffer(3)]],
    constant const NormalizationParams& p [[buffer(4)]], uint row [[threadgroup_position_in_grid]],
    uint index [[thread_index_in_threadgroup]], uint threads [[threads_per_threadgroup]]) {
  threadgroup Partials sums;
  threadgroup Partials sums_of_squares;
  const Member member{index, threads};
  in += static_cast<int64_t>(row) * p.length;
  out += static_cast<int64_t>(row) * p.length;
  float kept[most > 0 ? most : 1];
  float sum = 0.0f;
  const auto element = [&](uint held, uint i) {
    return most > 0 ? kept[held] : static_cast<float>(in[i]);
  };
  for_each_of_member<most>(p.length, member, [&](uint held, uint i, bool exists) {
    const float x = static_cast<float>(in[i]);
    kept[held] = exists ? x : 0.0f;
    sum += kept[held];
  });
  const float mean = Centered ? reduce_members<Sum>(sum, 0.0f, member, sums) / p.length : 0.0f;
  float squares = 0.0f;
  for_each_of_member<most>(p.length, member, [&](uint held, uint i, bool exists) {
    const float x = exists ? element(held, i) - mean : 0.0f;
    squares += x * x;
  });
  squares = reduce_members<Sum>(squares, 0.0f, member, sums_of_squares);
  const float scale = 1.0f / precise::sqrt(squares / p.length + p.eps);
  for_each_of_member<most>(p.length, member, [&](uint held, uint i, bool exists) {
    const float x = (element(held, i) - mean) * scale * weight[i * p.weight_step];
    const T result = convert<T>(Centered ? x + bias[i * p.bias_step] : x);
    if (exists) out[i] = result;
  });
}

// The cotangent of the rows, and partial sums of the weight's: each SIMD-group takes every
// `groups`-th row and adds up a line of its own.
template <bool Centered, typename T>
[[kernel]] void normalize_vjp(const device T* in [[buffer(0)]],
                              const device float* weight [[buffer(1)]],
                              const device T* cotangent [[buffer(2)]], device T* out [[buffer(3)]],
                              device float* weight_sums [[buffer(4)]],
                              constant const NormalizationParams& p [[buffer(5)]],
                              uint position [[thread_position_in_grid]],
                              uint threads [[threads_per_grid]],
                              uint lane [[thread_index_in_simdgroup]]) {
  const uint group = position / kLanes;
  weight_sums += static_cast<int64_t>(group) * p.length;
  for_each_of_lane(0, p.length, lane, [&](uint i) { weight_sums[i] = 0.0f; });
  for (uint row = group; row < p.rows; row += threads / kLanes) {
    const int64_t first = static_cast<int64_t>(row) * p.length;
    const device T* x = in + first;
    const device T* g = cotangent + first;
    const RowScale m = scale_of<Centered>(x, p, lane);
    float sum = 0.0f;
    float products = 0.0f;
    for_each_of_lane(0, p.length, lane, [&](uint i) {
      const float y = (static_cast<float>(x[i]) - m.mean) * m.scale;
      const float c = static_cast<float>(g[i]);
      sum += c * weight[i];
      products += c * weight[i] * y;
      weight_sums[i] += c * y;
    });
    const float mean = Centered ? reduce_lanes<Sum>(sum) / p.length : 0.0f;
    const float slope = reduce_lanes<Sum>(products) / p.length;
    for_each_of_lane(0, p.length, lane, [&](uint i) {
      const float y = (static_cast<float>(x[i]) - m.mean) * m.scale;
      const float c = static_cast<float>(g[i]) * weight[i];
      out[first + i] = convert<T>(m.scale * (c - mean - y * slope));
    });
  }
}

#define NORMALIZE(Op, name, T)                                                 \
  MLX_KERNEL("LayerNorm_" #name, normalize<true, T>)                           \
  MLX_KERNEL("RMSNorm_" #name, normalize<false, T>)                            \
  MLX_KERNEL("LayerNormHeld_" #name, normalize_shared<true, T, kHeldElements>) \
  MLX_KERNEL("RMSNormHeld_" #name, normalize_shared<false, T, kHeldElements>)  \
  MLX_KERNEL("LayerNormShared_" #name, normalize_shared<true, T, 0>)           \
  MLX_KERNEL("RMSNormShared_" #name, normalize_shared<false, T, 0>)            \
  MLX_KERNEL("LayerNormVJP_" #name, normalize_vjp<true, T>)                    \
  MLX_KERNEL("RMSNormVJP_" #name, normalize_vjp<false, T>)
MLX_FOR_FLOATS(NORMALIZE, )
