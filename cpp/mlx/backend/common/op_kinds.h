// Elementwise operations by name: the same names as the kernels' instantiations.
#pragma once

namespace mlx::core {

// clang-format off
#define MLX_UNARY_OPS(F)                                                                          \
  F(Abs) F(ArcCos) F(ArcCosh) F(ArcSin) F(ArcSinh) F(ArcTan) F(ArcTanh) F(BitwiseInvert)          \
  F(Ceil) F(Conjugate) F(Cos) F(Cosh) F(Erf) F(ErfInv) F(Exp) F(Expm1) F(Floor) F(Imag) F(Log)    \
  F(Log2) F(Log10) F(Log1p) F(LogicalNot) F(Negative) F(Real) F(Round) F(Rsqrt) F(Sigmoid)        \
  F(Sign) F(Sin) F(Sinh) F(Sqrt) F(Square) F(Tan) F(Tanh)

#define MLX_BINARY_OPS(F)                                                                         \
  F(Add) F(ArcTan2) F(BitwiseAnd) F(BitwiseOr) F(BitwiseXor) F(Divide) F(Equal) F(Greater)        \
  F(GreaterEqual) F(LeftShift) F(Less) F(LessEqual) F(LogAddExp) F(LogicalAnd) F(LogicalOr)       \
  F(Maximum) F(Minimum) F(Multiply) F(NanEqual) F(NotEqual) F(Power) F(Remainder) F(RightShift)   \
  F(Subtract)
// clang-format on

#define MLX_ENUMERATOR(name) name,
enum class UnaryOp : int { MLX_UNARY_OPS(MLX_ENUMERATOR) count };
enum class BinaryOp : int { MLX_BINARY_OPS(MLX_ENUMERATOR) count };
#undef MLX_ENUMERATOR

const char* op_name(UnaryOp op);
const char* op_name(BinaryOp op);

}  // namespace mlx::core
