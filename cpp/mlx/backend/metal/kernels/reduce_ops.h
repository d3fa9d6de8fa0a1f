// Reductions: the type in which they combine, its neutral element, how two values combine, and what
// becomes the result.
#pragma once

#include "mlx/backend/metal/kernels/binary_ops.h"

// The least and the greatest value of a type, which are infinities for floats.
template <typename T>
struct Extremes {
  static T lowest() { return kind<T>::is_signed ? T(T(1) << (8 * sizeof(T) - 1)) : T(0); }
  static T highest() { return T(~lowest()); }
};
template <>
struct Extremes<bool> {
  static bool lowest() { return false; }
  static bool highest() { return true; }
};
template <>
struct Extremes<float> {
  static float lowest() { return -INFINITY; }
  static float highest() { return INFINITY; }
};
template <>
struct Extremes<complex64_t> {
  static complex64_t lowest() { return complex64_t(-INFINITY, -INFINITY); }
  static complex64_t highest() { return complex64_t(INFINITY, INFINITY); }
};

#define MLX_REDUCTION(Name, Combine, neutral_expression) \
  struct Name {                                          \
    template <typename U>                                \
    using combined_t = compute_t<U>;                     \
    template <typename T>                                \
    static T neutral() {                                 \
      return neutral_expression;                         \
    }                                                    \
    template <typename T>                                \
    static T apply(T a, T b) {                           \
      return Combine::apply(a, b);                       \
    }                                                    \
    template <typename U, typename A>                    \
    static U result(A all, float) {                      \
      return convert<U>(all);                            \
    }                                                    \
  };
MLX_REDUCTION(Sum, Add, convert<T>(0))
MLX_REDUCTION(Prod, Multiply, convert<T>(1))
MLX_REDUCTION(Min, Minimum, Extremes<T>::highest())
MLX_REDUCTION(Max, Maximum, Extremes<T>::lowest())
MLX_REDUCTION(And, LogicalAnd, true)
MLX_REDUCTION(Or, LogicalOr, false)
MLX_REDUCTION(LogSum, LogAddExp, convert<T>(-INFINITY))

inline float divided(float x, float by) { return x / by; }
inline complex64_t divided(complex64_t x, float by) {
  return complex64_t(x.real / by, x.imag / by);
}
struct Mean : Sum {
  template <typename U, typename A>
  static U result(A all, float divisor) {
    return convert<U>(divided(all, divisor));
  }
};
