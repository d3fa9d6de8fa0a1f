// Kernels of elementwise operations of two operands: both contiguous (vv), one of them a scalar
// (sv, vs); strided with contiguous rows (r), or with one operand that has one element for the
// whole row (sr, rs), or neither (g).
#pragma once

#include "mlx/backend/metal/kernels/binary_ops.h"
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/strided.h"

template <typename Op, typename T, typename U>
inline U binary_apply(T a, T b) {
  return convert<U>(Op::apply(static_cast<compute_t<T>>(a), static_cast<compute_t<T>>(b)));
}

template <typename Op, typename T, typename U>
[[kernel]] void binary_vv(const device T* a [[buffer(0)]], const device T* b [[buffer(1)]],
                          device U* out [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  out[i] = binary_apply<Op, T, U>(a[i], b[i]);
}

template <typename Op, typename T, typename U>
[[kernel]] void binary_sv(const device T* a [[buffer(0)]], const device T* b [[buffer(1)]],
                          device U* out [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  out[i] = binary_apply<Op, T, U>(a[0], b[i]);
}

template <typename Op, typename T, typename U>
[[kernel]] void binary_vs(const device T* a [[buffer(0)]], const device T* b [[buffer(1)]],
                          device U* out [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  out[i] = binary_apply<Op, T, U>(a[i], b[0]);
}

template <typename Op, typename T, typename U>
[[kernel]] void binary_g(const device T* a [[buffer(0)]], const device T* b [[buffer(1)]],
                         device U* out [[buffer(2)]],
                         constant const Strides4<2>& strides [[buffer(3)]],
                         uint3 pos [[thread_position_in_grid]], uint3 grid [[threads_per_grid]]) {
  out[dense_offset(pos, grid)] = binary_apply<Op, T, U>(a[strided_offset(strides, 0, pos)],
                                                        b[strided_offset(strides, 1, pos)]);
}

template <typename Op, typename T, typename U, int A, int B>
[[kernel]] void binary_r(const device T* a [[buffer(0)]], const device T* b [[buffer(1)]],
                         device U* out [[buffer(2)]],
                         constant const Strides4<2>& strides [[buffer(3)]],
                         uint3 pos [[thread_position_in_grid]], uint3 grid [[threads_per_grid]]) {
  T x = a[row_offset(strides, 0, pos) + A * pos.x];
  T y = b[row_offset(strides, 1, pos) + B * pos.x];
  out[dense_offset(pos, grid)] = binary_apply<Op, T, U>(x, y);
}

#define BINARY_AS(Op, name, T, U)                        \
  MLX_KERNEL(#Op "_vv_" #name, binary_vv<Op, T, U>)      \
  MLX_KERNEL(#Op "_sv_" #name, binary_sv<Op, T, U>)      \
  MLX_KERNEL(#Op "_vs_" #name, binary_vs<Op, T, U>)      \
  MLX_KERNEL(#Op "_g_" #name, binary_g<Op, T, U>)        \
  MLX_KERNEL(#Op "_r_" #name, binary_r<Op, T, U, 1, 1>)  \
  MLX_KERNEL(#Op "_sr_" #name, binary_r<Op, T, U, 0, 1>) \
  MLX_KERNEL(#Op "_rs_" #name, binary_r<Op, T, U, 1, 0>)
#define BINARY(Op, name, T) BINARY_AS(Op, name, T, T)
#define COMPARE(Op, name, T) BINARY_AS(Op, name, T, bool)
