// Softmax and log-sum-exp over contiguous rows: a SIMD-group per row, or a threadgroup.
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/lanes.h"
#include "mlx/backend/metal/kernels/shared_row.h"

struct Greater {
  // Ignores NaNs: the sum will be NaN.
  static float apply(float a, float b) { return b > a ? b : a; }
};
struct Plus {
  static float apply(float a, float b) { return a + b; }
};

template <typename T>
inline float row_maximum(const device T* row, uint length, uint lane) {
  float best = -INFINITY;
  for_each_of_lane(0, length, lane,
                   [&](uint i) { best = Greater::apply(best, static_cast<float>(row[i])); });
  return reduce_lanes<Greater>(best);
}

template <typename T>
inline float row_sum_exp(const device T* row, uint length, float shift, uint lane) {
  float sum = 0.0f;
  for_each_of_lane(0, length, lane,
                   [&](uint i) { sum += precise::exp(static_cast<float>(row[i]) - shift); });
  return reduce_lanes<Plus>(sum);
}

// The value to subtract from a row with this maximum, so that no exponential overflows.
inline float shift_of(float best) { return best == -INFINITY ? 0.0f : best; }

template <typename T>
inline float row_shift(const device T* row, uint length, uint lane) {
  return shift_of(row_maximum(row, length, lane));
}

// Keeps a row's exponentials until their sum is known, and prefetches the next row meanwhile.
template <typename T>
[[kernel]] void softmax(const device T* in [[buffer(0)]], device T* out [[buffer(1)]],
                        constant const uint& length [[buffer(2)]],
                        threadgroup float* kept [[threadgroup(0)]],
                        uint position [[thread_position_in_grid]],
                        uint row [[simdgroup_index_in_threadgroup]],
                        uint lane [[thread_index_in_simdgroup]]) {
  in += static_cast<int64_t>(position / kLanes) * length;
  out += static_cast<int64_t>(position / kLanes) * length;
  kept += row * length;
  float shift = row_shift(in, length, lane);
  float sum = 0.0f;
  for_each_of_lane(0, length, lane, [&](uint i) {
    prefetch(in + length + i);
    kept[i] = precise::exp(static_cast<float>(in[i]) - shift);
    sum += kept[i];
  });
  float scale = 1.0f / reduce_lanes<Plus>(sum);
  for_each_of_lane(0, length, lane, [&](uint i) { out[i] = convert<T>(kept[i] * scale); });
}

// The same for rows that are too long to keep.
template <typename T>
[[kernel]] void softmax_long(const device T* in [[buffer(0)]], device T* out [[buffer(1)]],
                             constant const uint& length [[buffer(2)]],
                             uint position [[thread_position_in_grid]],
                             uint lane [[thread_index_in_simdgroup]]) {
  in += static_cast<int64_t>(position / kLanes) * length;
  out += static_cast<int64_t>(position / kLanes) * length;
  float shift = row_shift(in, length, lane);
  float scale = 1.0f / row_sum_exp(in, length, shift, lane);
  for_each_of_lane(0, length, lane, [&](uint i) {
    out[i] = convert<T>(precise::exp(static_cast<float>(in[i]) - shift) * scale);
  });
}

template <typename T>
[[kernel]] void logsumexp(const device T* in [[buffer(0)]], device T* out [[buffer(1)]],
                          constant const uint& length [[buffer(2)]],
                          uint position [[thread_position_in_grid]],
                          uint lane [[thread_index_in_simdgroup]]) {
  in += static_cast<int64_t>(position / kLanes) * length;
  float best = row_maximum(in, length, lane);
  float shift = isinf(best) ? 0.0f : best;
  float total = row_sum_exp(in, length, shift, lane);
  if (lane == 0) {
    out[position / kLanes] = convert<T>(precise::log(total) + shift);
  }
}

template <typename T, uint most>
[[kernel]] void softmax_shared(const device T* in [[buffer(0)]], device T* out [[buffer(1)]],
                               constant const uint& length [[buffer(2)]],
                               uint row [[threadgroup_position_in_grid]],
                               uint index [[thread_index_in_threadgroup]],
                               uint threads [[threads_per_threadgroup]]) {
  threadgroup Partials maxima;
  threadgroup Partials sums;
  const Member member{index, threads};
  in += static_cast<int64_t>(row) * length;
  out += static_cast<int64_t>(row) * length;
  float kept[most > 0 ? most : 1];
  float best = -INFINITY;
  for_each_of_member<most>(length, member, [&](uint held, uint i, bool exists) {
    const float x = static_cast<float>(in[i]);
    kept[held] = exists ? x : -INFINITY;
    best = Greater::apply(best, kept[held]);
  });
  const float shift = shift_of(reduce_members<Greater>(best, -INFINITY, member, maxima));
  const auto exponential = [&](uint held, uint i) {
    return precise::exp((most > 0 ? kept[held] : static_cast<float>(in[i])) - shift);
  };
  float sum = 0.0f;
  for_each_of_member<most>(length, member, [&](uint held, uint i, bool) {
    const float e = exponential(held, i);
    if (most > 0) kept[held] = e;
    sum += e;
  });
  const float scale = 1.0f / reduce_members<Plus>(sum, 0.0f, member, sums);
  for_each_of_member<most>(length, member, [&](uint held, uint i, bool exists) {
    const T result = convert<T>((most > 0 ? kept[held] : exponential(held, i)) * scale);
    if (exists) out[i] = result;
  });
}

template <typename T, uint most>
[[kernel]] void logsumexp_shared(const device T* in [[buffer(0)]], device T* out [[buffer(1)]],
                                 constant const uint& length [[buffer(2)]],
                                 uint row [[threadgroup_position_in_grid]],
                                 uint index [[thread_index_in_threadgroup]],
                                 uint threads [[threads_per_threadgroup]]) {
  threadgroup Partials maxima;
  threadgroup Partials sums;
  const Member member{index, threads};
  in += static_cast<int64_t>(row) * length;
  float kept[most > 0 ? most : 1];
  float best = -INFINITY;
  for_each_of_member<most>(length, member, [&](uint held, uint i, bool exists) {
    const float x = static_cast<float>(in[i]);
    kept[held] = exists ? x : -INFINITY;
    best = Greater::apply(best, kept[held]);
  });
  best = reduce_members<Greater>(best, -INFINITY, member, maxima);
  const float shift = isinf(best) ? 0.0f : best;
  float sum = 0.0f;
  for_each_of_member<most>(length, member, [&](uint held, uint i, bool) {
    sum += precise::exp((most > 0 ? kept[held] : static_cast<float>(in[i])) - shift);
  });
  sum = reduce_members<Plus>(sum, 0.0f, member, sums);
  if (index == 0) out[row] = convert<T>(precise::log(sum) + shift);
}

#define SOFTMAX(Op, name, T)                                      \
  MLX_KERNEL(#Op "_" #name, softmax<T>)                           \
  MLX_KERNEL(#Op "Long_" #name, softmax_long<T>)                  \
  MLX_KERNEL(#Op "Held_" #name, softmax_shared<T, kHeldElements>) \
  MLX_KERNEL(#Op "Shared_" #name, softmax_shared<T, 0>)
#define LOGSUMEXP(Op, name, T)                                      \
  MLX_KERNEL(#Op "_" #name, logsumexp<T>)                           \
  MLX_KERNEL(#Op "Held_" #name, logsumexp_shared<T, kHeldElements>) \
  MLX_KERNEL(#Op "Shared_" #name, logsumexp_shared<T, 0>)
MLX_FOR_FLOATS(SOFTMAX, Softmax)
MLX_FOR_FLOATS(LOGSUMEXP, LogSumExp)
