// Functions of complex64_t that stay accurate if one part is large or small.
#pragma once

#include "mlx/backend/metal/kernels/math.h"
#include "mlx/backend/metal/kernels/types.h"

inline complex64_t cmul(complex64_t a, complex64_t b) {
  return complex64_t(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real);
}

// Smith's method: divides by the larger part first.
inline complex64_t cdiv(complex64_t a, complex64_t b) {
  bool wide = fabs(b.real) >= fabs(b.imag);
  float big = wide ? b.real : b.imag;
  float ratio = (wide ? b.imag : b.real) / big;
  ratio = big == 0.0f ? 0.0f : ratio;
  float scale = big + (wide ? b.imag : b.real) * ratio;
  float re = wide ? a.real + a.imag * ratio : a.real * ratio + a.imag;
  float im = wide ? a.imag - a.real * ratio : a.imag * ratio - a.real;
  return complex64_t(re / scale, im / scale);
}

inline float cabs_(complex64_t a) {
  float x = fabs(a.real);
  float y = fabs(a.imag);
  float hi = x > y ? x : y;
  float lo = x > y ? y : x;
  float r = lo / hi;
  float h = hi * precise::sqrt(1.0f + r * r);
  h = hi == 0.0f ? 0.0f : h;
  h = (isnan(x) || isnan(y)) ? NAN : h;
  return (x == INFINITY || y == INFINITY) ? INFINITY : h;
}

inline float carg_(complex64_t a) { return precise::atan2(a.imag, a.real); }

// exp(x) (cos y + i sin y), with 0 * inf kept 0.
inline complex64_t cpolar(float r, float angle) {
  float c = r * precise::cos(angle);
  float s = r * precise::sin(angle);
  return complex64_t(c, angle == 0.0f ? angle : s);
}

inline complex64_t cexp(complex64_t a) {
  if (a.real == -INFINITY) {
    return complex64_t(0.0f, 0.0f);
  }
  return cpolar(precise::exp(a.real), a.imag);
}

// log |a|: near the unit circle from |a|^2 - 1, elsewhere from the scaled modulus.
inline float clogabs(complex64_t a) {
  float x = fabs(a.real);
  float y = fabs(a.imag);
  float hi = x > y ? x : y;
  float lo = x > y ? y : x;
  if (hi > 0.5f && hi < 1.5f) {
    return 0.5f * log1p_(fma(lo, lo, (hi - 1.0f) * (hi + 1.0f)));
  }
  return precise::log(cabs_(a));
}

inline complex64_t clog(complex64_t a) { return complex64_t(clogabs(a), carg_(a)); }

inline complex64_t clog1p(complex64_t a) {
  // |1 + a|^2 - 1 = re (2 + re) + im^2
  float d = fma(a.imag, a.imag, a.real * (2.0f + a.real));
  complex64_t u = complex64_t(1.0f + a.real, a.imag);
  float re = fabs(d) < 0.5f ? 0.5f * log1p_(d) : clogabs(u);
  return complex64_t(re, carg_(u));
}

inline complex64_t csqrt(complex64_t a) {
  float m = cabs_(a);
  if (m == 0.0f) {
    return complex64_t(0.0f, a.imag);
  }
  if (m == INFINITY) {
    return fabs(a.imag) == INFINITY ? complex64_t(INFINITY, a.imag)
           : a.real > 0.0f          ? complex64_t(INFINITY, copysign(0.0f, a.imag))
                                    : complex64_t(0.0f, copysign(INFINITY, a.imag));
  }
  float t = precise::sqrt(0.5f * m + 0.5f * fabs(a.real));
  float u = a.imag / (2.0f * t);
  return a.real >= 0.0f ? complex64_t(t, u) : complex64_t(fabs(u), copysign(t, a.imag));
}

inline complex64_t crsqrt(complex64_t a) { return cdiv(complex64_t(1.0f, 0.0f), csqrt(a)); }

inline float sinh_(float x) {
  float a = fabs(x);
  float e = expm1f(min(a, 88.0f));
  float y = 0.5f * (e + e / (e + 1.0f));
  float big = precise::exp(a * 0.5f);
  y = a > 87.0f ? (0.5f * big) * big : y;
  return isnan(x) ? x : copysign(y, x);
}

inline float cosh_(float x) {
  float a = fabs(x);
  float e = precise::exp(min(a, 88.0f));
  float big = precise::exp(a * 0.5f);
  float y = 0.5f * e + 0.5f / e;
  y = a > 87.0f ? (0.5f * big) * big : y;
  return isnan(x) ? x : y;
}

inline complex64_t csinh(complex64_t a) {
  float im = cosh_(a.real) * precise::sin(a.imag);
  return complex64_t(sinh_(a.real) * precise::cos(a.imag), a.imag == 0.0f ? a.imag : im);
}

inline complex64_t ccosh(complex64_t a) {
  float im = sinh_(a.real) * precise::sin(a.imag);
  return complex64_t(cosh_(a.real) * precise::cos(a.imag), a.imag == 0.0f ? 0.0f : im);
}

// (sinh 2x + i sin 2y) / (cosh 2x + cos 2y); the imaginary part vanishes for large |x|.
inline complex64_t ctanh(complex64_t a) {
  if (fabs(a.real) > 20.0f) {
    float decay = precise::exp(-2.0f * fabs(a.real));
    return complex64_t(copysign(1.0f, a.real), 4.0f * decay * precise::sin(2.0f * a.imag));
  }
  float c = precise::cos(a.imag);
  float s = precise::sin(a.imag);
  float sh = sinh_(a.real);
  float ch = cosh_(a.real);
  float d = fma(sh, sh, c * c);
  return complex64_t(sh * ch / d, s * c / d);
}

inline complex64_t times_i(complex64_t a) { return complex64_t(-a.imag, a.real); }
inline complex64_t over_i(complex64_t a) { return complex64_t(a.imag, -a.real); }

inline complex64_t csin(complex64_t a) { return over_i(csinh(times_i(a))); }
inline complex64_t ccos(complex64_t a) { return ccosh(times_i(a)); }
inline complex64_t ctan(complex64_t a) { return over_i(ctanh(times_i(a))); }

// Kahan's formulas, which have the right values at branch cuts.
inline complex64_t casin(complex64_t a) {
  complex64_t lower = csqrt(complex64_t(1.0f - a.real, -a.imag));
  complex64_t upper = csqrt(complex64_t(1.0f + a.real, a.imag));
  float re = precise::atan2(a.real, lower.real * upper.real - lower.imag * upper.imag);
  float im = precise::asinh(lower.real * upper.imag - lower.imag * upper.real);
  return complex64_t(re, im);
}

inline complex64_t cacos(complex64_t a) {
  complex64_t lower = csqrt(complex64_t(1.0f - a.real, -a.imag));
  complex64_t upper = csqrt(complex64_t(1.0f + a.real, a.imag));
  float re = 2.0f * precise::atan2(lower.real, upper.real);
  float im = precise::asinh(upper.real * lower.imag - upper.imag * lower.real);
  return complex64_t(re, im);
}

inline complex64_t cacosh(complex64_t a) {
  complex64_t lower = csqrt(complex64_t(a.real - 1.0f, a.imag));
  complex64_t upper = csqrt(complex64_t(a.real + 1.0f, a.imag));
  float re = precise::asinh(lower.real * upper.real + lower.imag * upper.imag);
  float im = 2.0f * precise::atan2(lower.imag, upper.real);
  return complex64_t(re, im);
}

inline complex64_t catanh(complex64_t a) {
  float x = a.real;
  float y = a.imag;
  float below = fma(y, y, (1.0f - x) * (1.0f - x));
  float re =
      0.25f * copysign(log1p_(4.0f * fabs(x) / fma(y, y, (1.0f - fabs(x)) * (1.0f - fabs(x)))), x);
  float im = 0.5f * precise::atan2(2.0f * y, (1.0f - x) * (1.0f + x) - y * y);
  return complex64_t(below == 0.0f ? INFINITY : re, im);
}

inline complex64_t casinh(complex64_t a) { return over_i(casin(times_i(a))); }
inline complex64_t catan(complex64_t a) { return over_i(catanh(times_i(a))); }

// Small integer exponents multiply, since the principal value is inaccurate there.
inline complex64_t cpow(complex64_t a, complex64_t b) {
  if (b.real == 0.0f && b.imag == 0.0f) {
    return complex64_t(1.0f, 0.0f);
  }
  if (a.real == 0.0f && a.imag == 0.0f) {
    return b.real > 0.0f ? complex64_t(0.0f, 0.0f) : complex64_t(NAN, NAN);
  }
  if (b.imag == 0.0f && b.real == rint(b.real) && fabs(b.real) <= 64.0f) {
    int n = static_cast<int>(fabs(b.real));
    complex64_t result = complex64_t(1.0f, 0.0f);
    for (complex64_t power = a; n != 0; n >>= 1) {
      result = (n & 1) ? cmul(result, power) : result;
      power = cmul(power, power);
    }
    return b.real < 0.0f ? cdiv(complex64_t(1.0f, 0.0f), result) : result;
  }
  return cexp(cmul(b, clog(a)));
}
