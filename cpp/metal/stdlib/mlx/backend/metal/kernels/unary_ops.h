// One functor per unary operation.
#pragma once

#include "mlx/backend/metal/kernels/complex_math.h"

#define MLX_UNARY_FLOAT(Name, real_expression, complex_expression)         \
  struct Name : Functor<Name> {                                            \
    static float apply(float x) { return real_expression; }                \
    static complex64_t apply(complex64_t x) { return complex_expression; } \
  };

MLX_UNARY_FLOAT(ArcCos, precise::acos(x), cacos(x))
MLX_UNARY_FLOAT(ArcCosh, precise::acosh(x), cacosh(x))
MLX_UNARY_FLOAT(ArcSin, precise::asin(x), casin(x))
MLX_UNARY_FLOAT(ArcSinh, precise::asinh(x), casinh(x))
MLX_UNARY_FLOAT(ArcTan, precise::atan(x), catan(x))
MLX_UNARY_FLOAT(ArcTanh, precise::atanh(x), catanh(x))
MLX_UNARY_FLOAT(Cos, precise::cos(x), ccos(x))
MLX_UNARY_FLOAT(Cosh, cosh_(x), ccosh(x))
MLX_UNARY_FLOAT(Exp, precise::exp(x), cexp(x))
MLX_UNARY_FLOAT(Log, precise::log(x), clog(x))
MLX_UNARY_FLOAT(Log2, precise::log2(x),
                complex64_t(clogabs(x) * 1.44269504f, carg_(x) * 1.44269504f))
MLX_UNARY_FLOAT(Log10, precise::log10(x),
                complex64_t(clogabs(x) * 0.434294482f, carg_(x) * 0.434294482f))
MLX_UNARY_FLOAT(Log1p, log1p_(x), clog1p(x))
MLX_UNARY_FLOAT(Sigmoid, sigmoid_(x),
                cdiv(complex64_t(1.0f, 0.0f),
                     complex64_t(1.0f + cexp(complex64_t(-x.real, -x.imag)).real,
                                 cexp(complex64_t(-x.real, -x.imag)).imag)))
MLX_UNARY_FLOAT(Sin, precise::sin(x), csin(x))
MLX_UNARY_FLOAT(Sinh, sinh_(x), csinh(x))
MLX_UNARY_FLOAT(Sqrt, precise::sqrt(x), csqrt(x))
MLX_UNARY_FLOAT(Rsqrt, 1.0f / precise::sqrt(x), crsqrt(x))
MLX_UNARY_FLOAT(Tan, precise::tan(x), ctan(x))
MLX_UNARY_FLOAT(Tanh, precise::tanh(x), ctanh(x))

struct Expm1 : Functor<Expm1> {
  static float apply(float x) { return expm1f(x); }
};
struct Erf : Functor<Erf> {
  static float apply(float x) { return erf(x); }
};
struct ErfInv : Functor<ErfInv> {
  static float apply(float x) { return erfinv(x); }
};

struct Abs : Functor<Abs> {
  template <typename T>
  static T apply(T x) {
    if constexpr (kind<T>::is_signed) {
      return x < T(0) ? T(-x) : x;
    } else {
      return x;
    }
  }
  static float apply(float x) { return fabs(x); }
  static float apply(complex64_t x) { return cabs_(x); }
};

// Integers round to themselves.
#define MLX_UNARY_ROUND(Name, function)                       \
  struct Name : Functor<Name> {                               \
    template <typename T>                                     \
    static T apply(T x) {                                     \
      return x;                                               \
    }                                                         \
    static float apply(float x) { return function(x); }       \
    static complex64_t apply(complex64_t x) {                 \
      return complex64_t(function(x.real), function(x.imag)); \
    }                                                         \
  };
MLX_UNARY_ROUND(Ceil, ceil)
MLX_UNARY_ROUND(Floor, floor)
MLX_UNARY_ROUND(Round, rint)

struct Negative : Functor<Negative> {
  template <typename T>
  static T apply(T x) {
    return T(-x);
  }
  static bool apply(bool x) { return x; }
  static complex64_t apply(complex64_t x) { return complex64_t(-x.real, -x.imag); }
};

struct Sign : Functor<Sign> {
  template <typename T>
  static T apply(T x) {
    return T(T(0) < x) - T(x < T(0));
  }
  static bool apply(bool x) { return x; }
  static complex64_t apply(complex64_t x) {
    float r = cabs_(x);
    return r == 0.0f ? x : complex64_t(x.real / r, x.imag / r);
  }
};

struct Square : Functor<Square> {
  template <typename T>
  static T apply(T x) {
    return T(x * x);
  }
  static bool apply(bool x) { return x; }
  static complex64_t apply(complex64_t x) { return cmul(x, x); }
};

struct BitwiseInvert : Functor<BitwiseInvert> {
  template <typename T>
  static T apply(T x) {
    return T(~x);
  }
  static bool apply(bool x) { return !x; }
};

struct LogicalNot : Functor<LogicalNot> {
  template <typename T>
  static bool apply(T x) {
    return !convert<bool>(x);
  }
};

struct Conjugate : Functor<Conjugate> {
  template <typename T>
  static T apply(T x) {
    return x;
  }
  static complex64_t apply(complex64_t x) { return complex64_t(x.real, -x.imag); }
};
struct Real : Functor<Real> {
  static float apply(complex64_t x) { return x.real; }
};
struct Imag : Functor<Imag> {
  static float apply(complex64_t x) { return x.imag; }
};
