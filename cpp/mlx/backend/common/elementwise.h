// Memory of elementwise outputs, and whether one loop can walk all operands in their layouts.
#pragma once

#include "mlx/array.h"

namespace mlx::core {

// Inputs with all elements in the same order as the output's can be walked together: the output
// takes that order.
void set_unary_output_data(const array& in, array& out);

enum class BinaryOpType { ScalarScalar, ScalarVector, VectorScalar, VectorVector, General };
BinaryOpType get_binary_op_type(const array& a, const array& b);
void set_binary_op_output_data(const array& a, const array& b, array& out, BinaryOpType type);

}  // namespace mlx::core
