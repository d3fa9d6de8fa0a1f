// Elementwise operations of two arrays: their types promote, their shapes broadcast.
#pragma once

#include "mlx/ops/common.h"

namespace mlx::core {

#define MLX_BINARY(Class, function, ...) \
  array function(const array& a, const array& b, StreamOrDevice s = {});
#include "mlx/primitives/elementwise.def"

// Functions composed of others.
array floor_divide(const array& a, const array& b, StreamOrDevice s = {});
array logical_xor(const array& a, const array& b, StreamOrDevice s = {});
std::vector<array> divmod(const array& a, const array& b, StreamOrDevice s = {});

array array_equal(const array& a, const array& b, bool equal_nan, StreamOrDevice s = {});
inline array array_equal(const array& a, const array& b, StreamOrDevice s = {}) {
  return array_equal(a, b, false, s);
}
// |a - b| <= atol + rtol * |b|
array isclose(const array& a, const array& b, double rtol = 1e-5, double atol = 1e-8,
              bool equal_nan = false, StreamOrDevice s = {});
array allclose(const array& a, const array& b, double rtol = 1e-5, double atol = 1e-8,
               bool equal_nan = false, StreamOrDevice s = {});

// Operators. A scalar becomes an array of the dtype of its C++ type.
#define MLX_BINARY_OPERATOR(op, function)                                             \
  inline array operator op(const array& a, const array& b) { return function(a, b); } \
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>         \
  array operator op(T a, const array& b) {                                            \
    return function(array(a), b);                                                     \
  }                                                                                   \
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>         \
  array operator op(const array& a, T b) {                                            \
    return function(a, array(b));                                                     \
  }
MLX_BINARY_OPERATOR(+, add)
MLX_BINARY_OPERATOR(-, subtract)
MLX_BINARY_OPERATOR(*, multiply)
MLX_BINARY_OPERATOR(/, divide)
MLX_BINARY_OPERATOR(%, remainder)
MLX_BINARY_OPERATOR(==, equal)
MLX_BINARY_OPERATOR(!=, not_equal)
MLX_BINARY_OPERATOR(<, less)
MLX_BINARY_OPERATOR(<=, less_equal)
MLX_BINARY_OPERATOR(>, greater)
MLX_BINARY_OPERATOR(>=, greater_equal)
MLX_BINARY_OPERATOR(&, bitwise_and)
MLX_BINARY_OPERATOR(|, bitwise_or)
MLX_BINARY_OPERATOR(^, bitwise_xor)
MLX_BINARY_OPERATOR(<<, left_shift)
MLX_BINARY_OPERATOR(>>, right_shift)
#undef MLX_BINARY_OPERATOR

inline array operator&&(const array& a, const array& b) { return logical_and(a, b); }
inline array operator||(const array& a, const array& b) { return logical_or(a, b); }

}  // namespace mlx::core
