// Memory of elementwise outputs, and whether one loop over memory visits all operands in order.
#pragma once

#include "mlx/array.h"

namespace mlx::core {

// Whether the operand repeats one scalar, whatever its shape is.
inline bool is_scalar(const array& a) { return a.data_size() == 1; }

// If the input's elements fill its memory without gaps, the output takes their order.
void set_unary_output_data(const array& in, array& out);

enum class BinaryOpType { ScalarScalar, ScalarVector, VectorScalar, VectorVector, General };
BinaryOpType get_binary_op_type(const array& a, const array& b);
void set_binary_op_output_data(const array& a, const array& b, array& out, BinaryOpType type);

}  // namespace mlx::core
