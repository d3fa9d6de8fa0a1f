// Kernels of axpby: one thread for each element, which is rounded once, at the end.
#include <metal_stdlib>

#include "mlx/backend/metal/kernels/utils.h"

// The operands have the same order of axes, and no gaps.
template <typename T>
[[kernel]] void axpby_contiguous(
    device const T* x [[buffer(0)]], device const T* y [[buffer(1)]], device T* out [[buffer(2)]],
    constant float& alpha [[buffer(3)]], constant float& beta [[buffer(4)]],
    uint i [[thread_position_in_grid]]) {
  out[i] = T(alpha * x[i] + beta * y[i]);
}

// The operands have any strides.
template <typename T>
[[kernel]] void axpby_general(
    device const T* x [[buffer(0)]], device const T* y [[buffer(1)]], device T* out [[buffer(2)]],
    constant float& alpha [[buffer(3)]], constant float& beta [[buffer(4)]],
    constant int* shape [[buffer(5)]], constant int64_t* x_strides [[buffer(6)]],
    constant int64_t* y_strides [[buffer(7)]], constant int& ndim [[buffer(8)]],
    uint i [[thread_position_in_grid]]) {
  out[i] = T(alpha * x[elem_to_loc(i, shape, x_strides, ndim)] +
             beta * y[elem_to_loc(i, shape, y_strides, ndim)]);
}

#define instantiate_axpby(name, type)                                    \
  instantiate_kernel("axpby_contiguous_" #name, axpby_contiguous, type)  \
  instantiate_kernel("axpby_general_" #name, axpby_general, type)

instantiate_axpby(float32, float)
instantiate_axpby(float16, half)
instantiate_axpby(bfloat16, bfloat16_t)
instantiate_axpby(complex64, float2)
