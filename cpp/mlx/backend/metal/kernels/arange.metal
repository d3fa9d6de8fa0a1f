// out[i] = start + i * step. Integers count in 64 bits, floats in float.
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/types.h"

template <typename T>
[[kernel]] void arange_int(device T* out [[buffer(0)]], constant const int64_t& start [[buffer(1)]],
                           constant const int64_t& step [[buffer(2)]],
                           uint i [[thread_position_in_grid]]) {
  out[i] = static_cast<T>(start + static_cast<int64_t>(i) * step);
}

template <typename T>
[[kernel]] void arange_float(device T* out [[buffer(0)]], constant const float& start [[buffer(1)]],
                             constant const float& step [[buffer(2)]],
                             uint i [[thread_position_in_grid]]) {
  out[i] = convert<T>(fma(static_cast<float>(i), step, start));
}

#define ARANGE_INT(Op, name, T) MLX_KERNEL(#Op "_" #name, arange_int<T>)
#define ARANGE_FLOAT(Op, name, T) MLX_KERNEL(#Op "_" #name, arange_float<T>)
MLX_FOR_INTEGERS(ARANGE_INT, Arange)
MLX_FOR_FLOATS(ARANGE_FLOAT, Arange)
