#include <metal_stdlib>

#include "mlx/backend/metal/kernels/utils.h"

template <typename T>
[[kernel]] void swiglu(
    device const T* gate [[buffer(0)]],
    device const T* up [[buffer(1)]],
    device T* out [[buffer(2)]],
    uint i [[thread_position_in_grid]]) {
  const float g = gate[i];
  out[i] = T(g / (1 + metal::exp(-g)) * float(up[i]));
}

instantiate_kernel("swiglu_float32", swiglu, float)
instantiate_kernel("swiglu_float16", swiglu, half)
instantiate_kernel("swiglu_bfloat16", swiglu, bfloat16_t)
