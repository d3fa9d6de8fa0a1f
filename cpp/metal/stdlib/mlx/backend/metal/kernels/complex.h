// complex_t<T>: a complex number of two Ts. complex64_t has two floats, complex32_t two halves.
#pragma once

#include <metal_stdlib>

template <typename T>
struct complex_t;

template <typename T>
inline constexpr bool is_complex_v = false;
template <typename T>
inline constexpr bool is_complex_v<complex_t<T>> = true;

// Whether a number converts to a part of a complex number, or such a part to it.
template <typename From, typename To>
inline constexpr bool is_lane_convertible_v = __is_arithmetic(From) && __is_arithmetic(To);

template <typename T>
struct complex_t {
  using value_type = T;

  T real;
  T imag;

  METAL_FUNC constexpr complex_t() __metal_generic : real(0), imag(0) {}
  METAL_FUNC constexpr complex_t(T real_part, T imaginary_part) __metal_generic
      : real(real_part),
        imag(imaginary_part) {}
  template <typename U>
    requires(is_lane_convertible_v<U, T>)
  METAL_FUNC constexpr complex_t(U x) __metal_generic : real(T(x)), imag(0) {}
  template <typename U>
    requires(!__is_same(U, T))
  METAL_FUNC constexpr complex_t(complex_t<U> x) __metal_generic : real(T(x.real)),
                                                                   imag(T(x.imag)) {}
  METAL_FUNC constexpr complex_t(metal::vec<T, 2> parts) __metal_generic : real(parts.x),
                                                                           imag(parts.y) {}

  // The real part.
  template <typename U>
    requires(is_lane_convertible_v<T, U> && !__is_same(U, bool))
  METAL_FUNC constexpr operator U() const __metal_generic {
    return U(real);
  }
  METAL_FUNC explicit constexpr operator bool() const __metal_generic {
    return real != T(0) || imag != T(0);
  }
  METAL_FUNC constexpr operator metal::vec<T, 2>() const __metal_generic {
    return metal::vec<T, 2>(real, imag);
  }

  METAL_FUNC __METAL_ANYWHERE complex_t& operator+=(complex_t b) __metal_generic {
    return *this = *this + b;
  }
  METAL_FUNC __METAL_ANYWHERE complex_t& operator-=(complex_t b) __metal_generic {
    return *this = *this - b;
  }
  METAL_FUNC __METAL_ANYWHERE complex_t& operator*=(complex_t b) __metal_generic {
    return *this = *this * b;
  }
  METAL_FUNC __METAL_ANYWHERE complex_t& operator/=(complex_t b) __metal_generic {
    return *this = *this / b;
  }

  friend METAL_FUNC constexpr complex_t operator+(complex_t a) { return a; }
  friend METAL_FUNC constexpr complex_t operator-(complex_t a) { return {-a.real, -a.imag}; }
  friend METAL_FUNC constexpr complex_t operator+(complex_t a, complex_t b) {
    return {a.real + b.real, a.imag + b.imag};
  }
  friend METAL_FUNC constexpr complex_t operator-(complex_t a, complex_t b) {
    return {a.real - b.real, a.imag - b.imag};
  }
  friend METAL_FUNC constexpr complex_t operator*(complex_t a, complex_t b) {
    return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
  }
  // Divides by the larger part of b first, so it neither overflows nor underflows unless the
  // quotient does.
  friend METAL_FUNC constexpr complex_t operator/(complex_t a, complex_t b) {
    const bool wide = (b.real < 0 ? -b.real : b.real) >= (b.imag < 0 ? -b.imag : b.imag);
    const T large = wide ? b.real : b.imag, small = wide ? b.imag : b.real;
    const T ratio = small / large, scale = large + small * ratio;
    const T x = wide ? a.real : a.imag, y = wide ? a.imag : a.real;
    const T cross = y - x * ratio;
    return {(x + y * ratio) / scale, (wide ? cross : -cross) / scale};
  }
  // The remainder of a division whose quotient is rounded down in each part.
  friend METAL_FUNC complex_t operator%(complex_t a, complex_t b) {
    const complex_t q = a / b;
    return a - b * complex_t(metal::floor(q.real), metal::floor(q.imag));
  }

  friend METAL_FUNC constexpr bool operator==(complex_t a, complex_t b) {
    return a.real == b.real && a.imag == b.imag;
  }
  friend METAL_FUNC constexpr bool operator!=(complex_t a, complex_t b) { return !(a == b); }
  // Compares the real parts, then the imaginary ones.
  friend METAL_FUNC constexpr bool operator<(complex_t a, complex_t b) {
    return a.real < b.real || (a.real == b.real && a.imag < b.imag);
  }
  friend METAL_FUNC constexpr bool operator>(complex_t a, complex_t b) { return b < a; }
  friend METAL_FUNC constexpr bool operator<=(complex_t a, complex_t b) {
    return a.real < b.real || (a.real == b.real && a.imag <= b.imag);
  }
  friend METAL_FUNC constexpr bool operator>=(complex_t a, complex_t b) { return b <= a; }
};

// With a number, which also could be combined with the real part alone.
#define __MLX_COMPLEX_OPERATOR(operation)                             \
  template <typename T, typename U>                                   \
    requires(is_lane_convertible_v<U, T>)                             \
  METAL_FUNC constexpr auto operator operation(complex_t<T> a, U b) { \
    return a operation complex_t<T>(b);                               \
  }                                                                   \
  template <typename T, typename U>                                   \
    requires(is_lane_convertible_v<U, T>)                             \
  METAL_FUNC constexpr auto operator operation(U a, complex_t<T> b) { \
    return complex_t<T>(a) operation b;                               \
  }

__MLX_COMPLEX_OPERATOR(+)
__MLX_COMPLEX_OPERATOR(-)
__MLX_COMPLEX_OPERATOR(*)
__MLX_COMPLEX_OPERATOR(/)
__MLX_COMPLEX_OPERATOR(%)
__MLX_COMPLEX_OPERATOR(==)
__MLX_COMPLEX_OPERATOR(!=)
__MLX_COMPLEX_OPERATOR(<)
__MLX_COMPLEX_OPERATOR(>)
__MLX_COMPLEX_OPERATOR(<=)
__MLX_COMPLEX_OPERATOR(>=)

#undef __MLX_COMPLEX_OPERATOR

using complex32_t = complex_t<half>;
using complex64_t = complex_t<float>;
