// complex64_t: std::complex<float> with conversions from and to the other element types.
#pragma once

#include <complex>

#include "mlx/types/half_types.h"

namespace mlx::core {

template <typename T>
concept RealScalar =
    std::is_arithmetic_v<T> || std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t>;

struct complex64_t : public std::complex<float> {
  complex64_t() : std::complex<float>() {}
  complex64_t(float real, float imag) : std::complex<float>(real, imag) {}
  complex64_t(const std::complex<float>& value) : std::complex<float>(value) {}
  template <typename T, typename = std::enable_if_t<std::is_convertible_v<T, float>>>
  complex64_t(T value) : std::complex<float>(static_cast<float>(value)) {}

  // As in NumPy, a conversion to a real number drops the imaginary part.
  template <RealScalar T>
  explicit operator T() const {
    return static_cast<T>(real());
  }
};

inline complex64_t operator-(const complex64_t& a) { return {-a.real(), -a.imag()}; }

// Real numbers have operators of their own: those of std::complex would match as well as the first.
#define MLX_COMPLEX_OPERATOR(op)                                               \
  inline complex64_t operator op(const complex64_t& a, const complex64_t& b) { \
    return static_cast<const std::complex<float>&>(a)                          \
        op static_cast<const std::complex<float>&>(b);                         \
  }                                                                            \
  template <RealScalar T>                                                      \
  complex64_t operator op(const complex64_t& a, T b) {                         \
    return a op complex64_t(b);                                                \
  }                                                                            \
  template <RealScalar T>                                                      \
  complex64_t operator op(T a, const complex64_t& b) {                         \
    return complex64_t(a) op b;                                                \
  }
MLX_COMPLEX_OPERATOR(+)
MLX_COMPLEX_OPERATOR(-)
MLX_COMPLEX_OPERATOR(*)
MLX_COMPLEX_OPERATOR(/)
#undef MLX_COMPLEX_OPERATOR

// Complex numbers are ordered by real part, then by imaginary part, as in NumPy.
inline bool operator<(const complex64_t& a, const complex64_t& b) {
  return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
}
inline bool operator>(const complex64_t& a, const complex64_t& b) { return b < a; }
inline bool operator<=(const complex64_t& a, const complex64_t& b) {
  return a.real() < b.real() || (a.real() == b.real() && a.imag() <= b.imag());
}
inline bool operator>=(const complex64_t& a, const complex64_t& b) { return b <= a; }

}  // namespace mlx::core
