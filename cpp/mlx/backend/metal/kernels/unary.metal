// Elementwise operations of one operand: contiguous (v), rows without gaps (r), strided (g).
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

#define UNARY_FLOAT(Op)     \
  MLX_FOR_FLOATS(UNARY, Op) \
  MLX_FOR_COMPLEX(UNARY, Op)

UNARY_FLOAT(ArcCos)
UNARY_FLOAT(ArcCosh)
UNARY_FLOAT(ArcSin)
UNARY_FLOAT(ArcSinh)
UNARY_FLOAT(ArcTan)
UNARY_FLOAT(ArcTanh)
UNARY_FLOAT(Cos)
UNARY_FLOAT(Cosh)
UNARY_FLOAT(Exp)
UNARY_FLOAT(Expm1)
UNARY_FLOAT(Log)
UNARY_FLOAT(Log2)
UNARY_FLOAT(Log10)
UNARY_FLOAT(Log1p)
UNARY_FLOAT(Sigmoid)
UNARY_FLOAT(Sin)
UNARY_FLOAT(Sinh)
UNARY_FLOAT(Sqrt)
UNARY_FLOAT(Rsqrt)
UNARY_FLOAT(Tan)
UNARY_FLOAT(Tanh)
MLX_FOR_FLOATS(UNARY, Erf)
MLX_FOR_FLOATS(UNARY, ErfInv)
MLX_FOR_BOOL(UNARY, Abs)
MLX_FOR_REALS(UNARY, Abs)
MLX_FOR_NUMBERS(UNARY, Ceil)
MLX_FOR_NUMBERS(UNARY, Floor)
MLX_FOR_NUMBERS(UNARY, Round)
MLX_FOR_ALL(UNARY, Negative)
MLX_FOR_ALL(UNARY, Sign)
MLX_FOR_ALL(UNARY, Square)
MLX_FOR_INTEGERS(UNARY, BitwiseInvert)
MLX_FOR_BOOL(UNARY, BitwiseInvert)
MLX_FOR_BOOL(UNARY, LogicalNot)
MLX_FOR_COMPLEX(UNARY, Conjugate)
UNARY_AS(Abs, complex64, complex64_t, float)
UNARY_AS(Real, complex64, complex64_t, float)
UNARY_AS(Imag, complex64, complex64_t, float)
