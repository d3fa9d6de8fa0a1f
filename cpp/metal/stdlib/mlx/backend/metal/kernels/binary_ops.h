// One functor per binary operation.
#pragma once

#include "mlx/backend/metal/kernels/complex_math.h"

inline bool cless(complex64_t a, complex64_t b) {
  return a.real < b.real || (a.real == b.real && a.imag < b.imag);
}
inline bool cequal(complex64_t a, complex64_t b) { return a.real == b.real && a.imag == b.imag; }
inline bool cisnan(complex64_t a) { return isnan(a.real) || isnan(a.imag); }

struct Add : Functor<Add> {
  template <typename T>
  static T apply(T a, T b) {
    return T(a + b);
  }
  static bool apply(bool a, bool b) { return a || b; }
  static complex64_t apply(complex64_t a, complex64_t b) {
    return complex64_t(a.real + b.real, a.imag + b.imag);
  }
};

struct Subtract : Functor<Subtract> {
  template <typename T>
  static T apply(T a, T b) {
    return T(a - b);
  }
  static bool apply(bool a, bool b) { return a != b; }
  static complex64_t apply(complex64_t a, complex64_t b) {
    return complex64_t(a.real - b.real, a.imag - b.imag);
  }
};

struct Multiply : Functor<Multiply> {
  template <typename T>
  static T apply(T a, T b) {
    return T(a * b);
  }
  static bool apply(bool a, bool b) { return a && b; }
  static complex64_t apply(complex64_t a, complex64_t b) { return cmul(a, b); }
};

// Integers: the quotient is rounded towards minus infinity, and 0 for a divisor of 0.
struct Divide : Functor<Divide> {
  template <typename T>
  static T apply(T a, T b) {
    bool zero = b == T(0);
    if constexpr (kind<T>::is_signed) {
      bool minus_one = b == T(-1);
      T d = (zero || minus_one) ? T(1) : b;
      T q = T(a / d);
      T r = T(a % d);
      q = T(q - T(r != T(0) && ((r < T(0)) != (d < T(0)))));
      q = minus_one ? T(T(0) - a) : q;
      return zero ? T(0) : q;
    } else {
      return zero ? T(0) : T(a / (zero ? T(1) : b));
    }
  }
  static bool apply(bool a, bool b) { return a && b; }
  static float apply(float a, float b) { return a / b; }
  static complex64_t apply(complex64_t a, complex64_t b) { return cdiv(a, b); }
};

// The remainder has the sign of the divisor; for integers it is 0 for a divisor of 0.
struct Remainder : Functor<Remainder> {
  template <typename T>
  static T apply(T a, T b) {
    bool trivial = b == T(0);
    if constexpr (kind<T>::is_signed) {
      trivial = trivial || b == T(-1);
      T r = T(a % (trivial ? T(1) : b));
      r = T(r + ((r != T(0) && ((r < T(0)) != (b < T(0)))) ? b : T(0)));
      return trivial ? T(0) : r;
    } else {
      return trivial ? T(0) : T(a % (trivial ? T(1) : b));
    }
  }
  static bool apply(bool, bool) { return false; }
  static float apply(float a, float b) {
    float r = precise::fmod(a, b);
    r = r == 0.0f ? copysign(r, b) : (r < 0.0f) != (b < 0.0f) ? r + b : r;
    return r;
  }
  static complex64_t apply(complex64_t a, complex64_t b) {
    complex64_t q = cdiv(a, b);
    complex64_t p = cmul(complex64_t(floor(q.real), floor(q.imag)), b);
    return complex64_t(a.real - p.real, a.imag - p.imag);
  }
};

struct FloorDivide : Functor<FloorDivide> {
  template <typename T>
  static T apply(T a, T b) {
    return Divide::apply(a, b);
  }
  static float apply(float a, float b) { return floor(a / b); }
  static complex64_t apply(complex64_t a, complex64_t b) {
    complex64_t q = cdiv(a, b);
    return complex64_t(floor(q.real), floor(q.imag));
  }
};

// Integers: repeated squaring; a negative exponent gives the truncated reciprocal (0 except for
// bases 1 and -1).
struct Power : Functor<Power> {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (kind<T>::is_signed) {
      if (b < T(0)) {
        return T(0);
      }
    }
    T result = T(1);
    while (b != T(0)) {
      result = (b & T(1)) ? T(result * a) : result;
      b = T(b >> 1);
      a = T(a * a);
    }
    return result;
  }
  static bool apply(bool a, bool b) { return a || !b; }
  static float apply(float a, float b) { return precise::pow(a, b); }
  static complex64_t apply(complex64_t a, complex64_t b) { return cpow(a, b); }
};

// NaN if either is NaN. a != a is faster than isnan, which must also work in fast math mode.
// Complex numbers are ordered by their real, then their imaginary part.
struct Maximum : Functor<Maximum> {
  template <typename T>
  static T apply(T a, T b) {
    return a > b ? a : b;
  }
  static float apply(float a, float b) { return (a > b || a != a) ? a : b; }
  static complex64_t apply(complex64_t a, complex64_t b) {
    return (cisnan(a) || cless(b, a)) ? a : b;
  }
};
struct Minimum : Functor<Minimum> {
  template <typename T>
  static T apply(T a, T b) {
    return a < b ? a : b;
  }
  static float apply(float a, float b) { return (a < b || a != a) ? a : b; }
  static complex64_t apply(complex64_t a, complex64_t b) {
    return (cisnan(a) || cless(a, b)) ? a : b;
  }
};

struct LogAddExp : Functor<LogAddExp> {
  static float apply(float a, float b) { return logaddexp_(a, b); }
  static complex64_t apply(complex64_t a, complex64_t b) {
    complex64_t hi = cless(a, b) ? b : a;
    complex64_t lo = cless(a, b) ? a : b;
    if (cisnan(a) || cisnan(b)) {
      return complex64_t(NAN, NAN);
    }
    if (lo.real == -INFINITY || hi.real == INFINITY) {
      return hi;
    }
    complex64_t y = clog1p(cexp(complex64_t(lo.real - hi.real, lo.imag - hi.imag)));
    return complex64_t(hi.real + y.real, hi.imag + y.imag);
  }
};

struct ArcTan2 : Functor<ArcTan2> {
  static float apply(float a, float b) { return precise::atan2(a, b); }
};

#define MLX_COMPARE(Name, real_expression, complex_expression)                     \
  struct Name : Functor<Name> {                                                    \
    template <typename T>                                                          \
    static bool apply(T a, T b) {                                                  \
      return real_expression;                                                      \
    }                                                                              \
    static bool apply(complex64_t a, complex64_t b) { return complex_expression; } \
  };
MLX_COMPARE(Equal, a == b, cequal(a, b))
MLX_COMPARE(NotEqual, a != b, !cequal(a, b))
MLX_COMPARE(Less, a < b, cless(a, b))
MLX_COMPARE(LessEqual, a <= b, cless(a, b) || cequal(a, b))
MLX_COMPARE(Greater, a > b, cless(b, a))
MLX_COMPARE(GreaterEqual, a >= b, cless(b, a) || cequal(a, b))

struct NanEqual : Functor<NanEqual> {
  static bool apply(float a, float b) { return a == b || (isnan(a) && isnan(b)); }
  static bool apply(complex64_t a, complex64_t b) {
    return (a.real == b.real || (isnan(a.real) && isnan(b.real))) &&
           (a.imag == b.imag || (isnan(a.imag) && isnan(b.imag)));
  }
};

using NaNEqual = NanEqual;

struct LogicalAnd : Functor<LogicalAnd> {
  static bool apply(bool a, bool b) { return a && b; }
};
struct LogicalOr : Functor<LogicalOr> {
  static bool apply(bool a, bool b) { return a || b; }
};

struct BitwiseAnd : Functor<BitwiseAnd> {
  template <typename T>
  static T apply(T a, T b) {
    return T(a & b);
  }
};
struct BitwiseOr : Functor<BitwiseOr> {
  template <typename T>
  static T apply(T a, T b) {
    return T(a | b);
  }
};
struct BitwiseXor : Functor<BitwiseXor> {
  template <typename T>
  static T apply(T a, T b) {
    return T(a ^ b);
  }
};

// A shift by the type's width or more gives 0, or the sign.
struct LeftShift : Functor<LeftShift> {
  template <typename T>
  static T apply(T a, T b) {
    bool out = b < T(0) || b >= T(8 * sizeof(T));
    return out ? T(0) : T(a << (out ? T(0) : b));
  }
};
struct RightShift : Functor<RightShift> {
  template <typename T>
  static T apply(T a, T b) {
    constexpr T last = T(8 * sizeof(T) - 1);
    bool out = b < T(0) || b > last;
    if constexpr (kind<T>::is_signed) {
      return T(a >> (out ? last : b));
    } else {
      return out ? T(0) : T(a >> (out ? T(0) : b));
    }
  }
};

// The quotient, rounded down, and the remainder.
struct DivMod {
  template <typename T>
  metal::array<T, 2> operator()(T x, T y) const {
    return {FloorDivide()(x, y), Remainder()(x, y)};
  }
};
