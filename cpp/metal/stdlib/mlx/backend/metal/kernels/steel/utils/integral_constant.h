// Numbers that are types: arithmetic on them happens in the compiler.
#pragma once

#include <metal_stdlib>

#include "mlx/backend/metal/kernels/steel/utils/type_traits.h"

namespace mlx {
namespace steel {

using metal::bool_constant;
using metal::false_type;
using metal::integral_constant;
using metal::true_type;

template <int N>
using Int = integral_constant<int, N>;

// Integers, and integral constants of integers.
template <typename T>
struct is_integral : metal::is_integral<T> {};
template <typename T, T N>
struct is_integral<integral_constant<T, N>> : metal::is_integral<T> {};
template <typename T>
inline constexpr bool is_integral_v = is_integral<T>::value;

#define __MLX_CONSTANT_OPERATOR(op)                                                         \
  template <typename T, T A, typename U, U B>                                               \
  METAL_FUNC constexpr auto operator op(integral_constant<T, A>, integral_constant<U, B>) { \
    return integral_constant<decltype(A op B), (A op B)>{};                                 \
  }

__MLX_CONSTANT_OPERATOR(+)
__MLX_CONSTANT_OPERATOR(-)
__MLX_CONSTANT_OPERATOR(*)
__MLX_CONSTANT_OPERATOR(/)
__MLX_CONSTANT_OPERATOR(%)
__MLX_CONSTANT_OPERATOR(==)
__MLX_CONSTANT_OPERATOR(!=)
__MLX_CONSTANT_OPERATOR(<)
__MLX_CONSTANT_OPERATOR(<=)
__MLX_CONSTANT_OPERATOR(>)
__MLX_CONSTANT_OPERATOR(>=)
__MLX_CONSTANT_OPERATOR(&&)
__MLX_CONSTANT_OPERATOR(||)

#undef __MLX_CONSTANT_OPERATOR

template <typename T>
METAL_FUNC constexpr auto sum(T x) {
  return x;
}
template <typename T, typename... U>
METAL_FUNC constexpr auto sum(T x, U... others) {
  return x + sum(others...);
}

// Calls f(Int<start>), f(Int<start + step>) and so on, before stop.
template <int start, int stop, int step, typename F>
METAL_FUNC constexpr void const_for_loop(F f) {
  if constexpr (start < stop) {
    f(Int<start>{});
    const_for_loop<start + step, stop, step>(f);
  }
}

// Calls f with a value as an integral constant.
template <typename F>
METAL_FUNC constexpr void dispatch_bool(bool value, F f) {
  if (value) {
    f(true_type{});
  } else {
    f(false_type{});
  }
}

}  // namespace steel
}  // namespace mlx
