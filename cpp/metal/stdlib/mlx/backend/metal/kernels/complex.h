// complex64_t: a complex number of two floats.
#pragma once

#include <metal_stdlib>

struct complex64_t {
  float real;
  float imag;

  complex64_t() __metal_generic = default;
  METAL_FUNC constexpr complex64_t(float real_part, float imaginary_part) __metal_generic
      : real(real_part),
        imag(imaginary_part) {}
  template <typename T>
    requires(__is_arithmetic(T))
  METAL_FUNC constexpr complex64_t(T x) __metal_generic : real(float(x)), imag(0.0f) {}

  // The real part.
  template <typename T>
    requires(__is_arithmetic(T) && !__is_same(T, bool))
  METAL_FUNC explicit constexpr operator T() const __metal_generic {
    return T(real);
  }
  METAL_FUNC explicit constexpr operator bool() const __metal_generic {
    return real != 0.0f || imag != 0.0f;
  }

  METAL_FUNC __METAL_ANYWHERE complex64_t& operator+=(complex64_t b) __metal_generic {
    return *this = *this + b;
  }
  METAL_FUNC __METAL_ANYWHERE complex64_t& operator-=(complex64_t b) __metal_generic {
    return *this = *this - b;
  }
  METAL_FUNC __METAL_ANYWHERE complex64_t& operator*=(complex64_t b) __metal_generic {
    return *this = *this * b;
  }
  METAL_FUNC __METAL_ANYWHERE complex64_t& operator/=(complex64_t b) __metal_generic {
    return *this = *this / b;
  }

  friend METAL_FUNC constexpr complex64_t operator+(complex64_t a) { return a; }
  friend METAL_FUNC constexpr complex64_t operator-(complex64_t a) { return {-a.real, -a.imag}; }
  friend METAL_FUNC constexpr complex64_t operator+(complex64_t a, complex64_t b) {
    return {a.real + b.real, a.imag + b.imag};
  }
  friend METAL_FUNC constexpr complex64_t operator-(complex64_t a, complex64_t b) {
    return {a.real - b.real, a.imag - b.imag};
  }
  friend METAL_FUNC constexpr complex64_t operator*(complex64_t a, complex64_t b) {
    return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
  }
  // Divides by the larger part of b first, so it neither overflows nor underflows unless the
  // quotient does.
  friend METAL_FUNC constexpr complex64_t operator/(complex64_t a, complex64_t b) {
    const bool wide = (b.real < 0 ? -b.real : b.real) >= (b.imag < 0 ? -b.imag : b.imag);
    const float large = wide ? b.real : b.imag, small = wide ? b.imag : b.real;
    const float ratio = small / large, scale = large + small * ratio;
    const float x = wide ? a.real : a.imag, y = wide ? a.imag : a.real;
    const float cross = y - x * ratio;
    return {(x + y * ratio) / scale, (wide ? cross : -cross) / scale};
  }
  // The remainder of a division whose quotient is rounded down in each part.
  friend METAL_FUNC complex64_t operator%(complex64_t a, complex64_t b) {
    const complex64_t q = a / b;
    return a - b * complex64_t(metal::floor(q.real), metal::floor(q.imag));
  }

  friend METAL_FUNC constexpr bool operator==(complex64_t a, complex64_t b) {
    return a.real == b.real && a.imag == b.imag;
  }
  friend METAL_FUNC constexpr bool operator!=(complex64_t a, complex64_t b) { return !(a == b); }
  // Compares the real parts, then the imaginary ones.
  friend METAL_FUNC constexpr bool operator<(complex64_t a, complex64_t b) {
    return a.real < b.real || (a.real == b.real && a.imag < b.imag);
  }
  friend METAL_FUNC constexpr bool operator>(complex64_t a, complex64_t b) { return b < a; }
  friend METAL_FUNC constexpr bool operator<=(complex64_t a, complex64_t b) {
    return a.real < b.real || (a.real == b.real && a.imag <= b.imag);
  }
  friend METAL_FUNC constexpr bool operator>=(complex64_t a, complex64_t b) { return b <= a; }
};
