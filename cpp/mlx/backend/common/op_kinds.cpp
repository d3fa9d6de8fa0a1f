// Names of elementwise operations.
#include "mlx/backend/common/op_kinds.h"

namespace mlx::core {

#define MLX_NAME(name) #name,

const char* op_name(UnaryOp op) {
  static const char* const names[] = {MLX_UNARY_OPS(MLX_NAME)};
  return names[static_cast<int>(op)];
}

const char* op_name(BinaryOp op) {
  static const char* const names[] = {MLX_BINARY_OPS(MLX_NAME)};
  return names[static_cast<int>(op)];
}

#undef MLX_NAME

}  // namespace mlx::core
