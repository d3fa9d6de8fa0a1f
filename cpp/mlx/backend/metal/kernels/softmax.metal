// Softmax and log-sum-exp over contiguous rows: a thread per row, with sixteen running values that
// vectorise.
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/types.h"

template <typename T>
inline float row_maximum(const device T* row, uint length) {
  float acc[16];
  for (int k = 0; k < 16; ++k) {
    acc[k] = -INFINITY;
  }
  uint i = 0;
  for (; i + 16 <= length; i += 16) {
    for (int k = 0; k < 16; ++k) {
      float x = static_cast<float>(row[i + k]);
      acc[k] = (x > acc[k] || isnan(x)) ? x : acc[k];
    }
  }
  for (; i < length; ++i) {
    float x = static_cast<float>(row[i]);
    acc[0] = (x > acc[0] || isnan(x)) ? x : acc[0];
  }
  float best = acc[0];
  for (int k = 1; k < 16; ++k) {
    best = (acc[k] > best || isnan(acc[k])) ? acc[k] : best;
  }
  return best;
}

template <typename T>
inline float row_sum_exp(const device T* row, uint length, float shift) {
  float acc[16];
  for (int k = 0; k < 16; ++k) {
    acc[k] = 0.0f;
  }
  uint i = 0;
  for (; i + 16 <= length; i += 16) {
#pragma clang loop unroll(disable) vectorize(enable)
    for (int k = 0; k < 16; ++k) {
      acc[k] += precise::exp(static_cast<float>(row[i + k]) - shift);
    }
  }
  for (; i < length; ++i) {
    acc[0] += precise::exp(static_cast<float>(row[i]) - shift);
  }
  for (int width = 8; width > 0; width /= 2) {
    for (int k = 0; k < width; ++k) {
      acc[k] += acc[k + width];
    }
  }
  return acc[0];
}

template <typename T>
[[kernel]] void softmax(const device T* in [[buffer(0)]], device T* out [[buffer(1)]],
                        constant const uint& length [[buffer(2)]],
                        uint row [[thread_position_in_grid]]) {
  in += static_cast<int64_t>(row) * length;
  out += static_cast<int64_t>(row) * length;
  float shift = row_maximum(in, length);
  shift = shift == -INFINITY ? 0.0f : shift;
  float scale = 1.0f / row_sum_exp(in, length, shift);
  uint i = 0;
  for (; i + 16 <= length; i += 16) {
    float values[16];
#pragma clang loop unroll(disable) vectorize(enable)
    for (int k = 0; k < 16; ++k) {
      values[k] = precise::exp(static_cast<float>(in[i + k]) - shift) * scale;
    }
    for (int k = 0; k < 16; ++k) {
      out[i + k] = convert<T>(values[k]);
    }
  }
  for (; i < length; ++i) {
    out[i] = convert<T>(precise::exp(static_cast<float>(in[i]) - shift) * scale);
  }
}

template <typename T>
[[kernel]] void logsumexp(const device T* in [[buffer(0)]], device T* out [[buffer(1)]],
                          constant const uint& length [[buffer(2)]],
                          uint row [[thread_position_in_grid]]) {
  in += static_cast<int64_t>(row) * length;
  float best = row_maximum(in, length);
  float shift = isinf(best) ? 0.0f : best;
  out[row] = convert<T>(precise::log(row_sum_exp(in, length, shift)) + shift);
}

#define SOFTMAX(Op, name, T) MLX_KERNEL(#Op "_" #name, softmax<T>)
#define LOGSUMEXP(Op, name, T) MLX_KERNEL(#Op "_" #name, logsumexp<T>)
MLX_FOR_FLOATS(SOFTMAX, Softmax)
MLX_FOR_FLOATS(LOGSUMEXP, LogSumExp)
