// Kernels of axpby: one thread for each element.
#include <metal_stdlib>

#include "mlx/backend/metal/kernels/utils.h"

// Rounds once, at the end.
template <typename T>
T combine(T x, T y, float alpha, float beta) {
  return T(alpha * float(x) + beta * float(y));
}

complex64_t combine(complex64_t x, complex64_t y, float alpha, float beta) {
  return {alpha * x.real + beta * y.real, alpha * x.imag + beta * y.imag};
}

// Operands in the same order of axes, without gaps.
template <typename T>
[[kernel]] void axpby_contiguous(
    device const T* x [[buffer(0)]],
    device const T* y [[buffer(1)]],
    device T* out [[buffer(2)]],
    constant const float& alpha [[buffer(3)]],
    constant const float& beta [[buffer(4)]],
    uint i [[thread_position_in_grid]]) {
  out[i] = combine(x[i], y[i], alpha, beta);
}

// Operands in any layout.
template <typename T>
[[kernel]] void axpby_general(
    device const T* x [[buffer(0)]],
    device const T* y [[buffer(1)]],
    device T* out [[buffer(2)]],
    constant const float& alpha [[buffer(3)]],
    constant const float& beta [[buffer(4)]],
    constant const int* shape [[buffer(5)]],
    constant const int64_t* x_strides [[buffer(6)]],
    constant const int64_t* y_strides [[buffer(7)]],
    constant const int& ndim [[buffer(8)]],
    uint i [[thread_position_in_grid]]) {
  auto x_at = elem_to_loc(i, shape, x_strides, ndim);
  auto y_at = elem_to_loc(i, shape, y_strides, ndim);
  out[i] = combine(x[x_at], y[y_at], alpha, beta);
}

#define instantiate_axpby(name, type)                                    \
  instantiate_kernel("axpby_contiguous_" #name, axpby_contiguous, type)  \
  instantiate_kernel("axpby_general_" #name, axpby_general, type)

instantiate_axpby(float32, float)
instantiate_axpby(float16, half)
instantiate_axpby(bfloat16, bfloat16_t)
instantiate_axpby(complex64, complex64_t)
