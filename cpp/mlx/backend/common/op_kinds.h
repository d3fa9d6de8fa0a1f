// Elementwise operations by name: the same names as the kernels' instantiations.
#pragma once

namespace mlx::core {

enum class UnaryOp : int {
#define MLX_UNARY(Op, ...) Op,
#include "mlx/primitives/elementwise.def"
  count
};

enum class BinaryOp : int {
#define MLX_BINARY(Op, ...) Op,
#define MLX_BINARY_KERNEL MLX_BINARY
#include "mlx/primitives/elementwise.def"
  count
};

const char* op_name(UnaryOp op);
const char* op_name(BinaryOp op);

}  // namespace mlx::core
