// Elementwise operations of one operand: contiguous (v), contiguous rows (r), strided (g).
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/strided.h"
#include "mlx/backend/metal/kernels/unary_ops.h"

template <typename Op, typename T, typename U>
[[kernel]] void unary_v(const device T* in [[buffer(0)]], device U* out [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
  out[i] = convert<U>(Op::apply(static_cast<compute_t<T>>(in[i])));
}

template <typename Op, typename T, typename U>
[[kernel]] void unary_g(const device T* in [[buffer(0)]], device U* out [[buffer(1)]],
                        constant const Strides4<1>& strides [[buffer(2)]],
                        uint3 pos [[thread_position_in_grid]], uint3 grid [[threads_per_grid]]) {
  T x = in[strided_offset(strides, 0, pos)];
  out[dense_offset(pos, grid)] = convert<U>(Op::apply(static_cast<compute_t<T>>(x)));
}

template <typename Op, typename T, typename U>
[[kernel]] void unary_r(const device T* in [[buffer(0)]], device U* out [[buffer(1)]],
                        constant const Strides4<1>& strides [[buffer(2)]],
                        uint3 pos [[thread_position_in_grid]], uint3 grid [[threads_per_grid]]) {
  T x = in[row_offset(strides, 0, pos) + pos.x];
  out[dense_offset(pos, grid)] = convert<U>(Op::apply(static_cast<compute_t<T>>(x)));
}

#define UNARY_AS(Op, name, T, U)                 \
  MLX_KERNEL(#Op "_v_" #name, unary_v<Op, T, U>) \
  MLX_KERNEL(#Op "_g_" #name, unary_g<Op, T, U>) \
  MLX_KERNEL(#Op "_r_" #name, unary_r<Op, T, U>)
#define UNARY(Op, name, T) UNARY_AS(Op, name, T, T)

// The types that elementwise.def names.
#define UNARY_any(Op) MLX_FOR_ALL(UNARY, Op)
#define UNARY_any_to_real(Op) \
  MLX_FOR_BOOL(UNARY, Op)     \
  MLX_FOR_REALS(UNARY, Op)    \
  UNARY_complex_to_real(Op)
#define UNARY_inexact(Op)   \
  MLX_FOR_FLOATS(UNARY, Op) \
  MLX_FOR_COMPLEX(UNARY, Op)
#define UNARY_floating(Op) MLX_FOR_FLOATS(UNARY, Op)
#define UNARY_rounded(Op) MLX_FOR_NUMBERS(UNARY, Op)
#define UNARY_complex(Op) MLX_FOR_COMPLEX(UNARY, Op)
#define UNARY_complex_to_real(Op) UNARY_AS(Op, complex64, complex64_t, float)
#define UNARY_integral(Op)    \
  MLX_FOR_INTEGERS(UNARY, Op) \
  MLX_FOR_BOOL(UNARY, Op)
#define UNARY_logical(Op) MLX_FOR_BOOL(UNARY, Op)

#define MLX_UNARY(Op, function, types, ...) UNARY_##types(Op)
#include "mlx/primitives/elementwise.def"
