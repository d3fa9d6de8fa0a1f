// Names of elementwise operations.
#include "mlx/backend/common/op_kinds.h"

namespace mlx::core {

const char* op_name(UnaryOp op) {
  static const char* const names[] = {
#define MLX_UNARY(Op, ...) #Op,
#include "mlx/primitives/elementwise.def"
  };
  return names[static_cast<int>(op)];
}

const char* op_name(BinaryOp op) {
  static const char* const names[] = {
#define MLX_BINARY(Op, ...) #Op,
#define MLX_BINARY_KERNEL MLX_BINARY
#include "mlx/primitives/elementwise.def"
  };
  return names[static_cast<int>(op)];
}

}  // namespace mlx::core
