// complex64_t: std::complex<float> with conversions from and to the other element types.
#pragma once

#include <complex>

#include "mlx/types/half_types.h"

namespace mlx::core {

struct complex64_t : public std::complex<float> {
  complex64_t() : std::complex<float>() {}
  complex64_t(float real, float imag) : std::complex<float>(real, imag) {}
  complex64_t(const std::complex<float>& value) : std::complex<float>(value) {}
  template <typename T, typename = std::enable_if_t<std::is_convertible_v<T, float>>>
  complex64_t(T value) : std::complex<float>(static_cast<float>(value)) {}

  // As in NumPy, a conversion to a real number drops the imaginary part.
  template <typename T,
            typename = std::enable_if_t<std::is_arithmetic_v<T> || std::is_same_v<T, float16_t> ||
                                        std::is_same_v<T, bfloat16_t>>>
  explicit operator T() const {
    return static_cast<T>(real());
  }
};

inline complex64_t operator-(const complex64_t& a) { return {-a.real(), -a.imag()}; }

#define MLX_COMPLEX_OPERATOR(op)                                               \
  inline complex64_t operator op(const complex64_t& a, const complex64_t& b) { \
    return static_cast<const std::complex<float>&>(a)                          \
        op static_cast<const std::complex<float>&>(b);                         \
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
