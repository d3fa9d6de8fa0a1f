// Functions of the parts of a float: rounding, remainders, exponents, neighbours.
#pragma once

#include "math_base.h"

#pragma float_control(precise, on, push)
#pragma clang fp contract(off)

namespace metal::__math {

// Rounds half away from zero: adding the largest float below 1/2 never rounds up a fraction that is
// less than 1/2.
__METAL_MATH float round(float x) { return trunc(x + copysign(0x1.fffffep-2f, x)); }

__METAL_MATH float fract(float x) {
  float f = x - floor(x);
  return either(f < 0x1.fffffep-1f, f != f) ? f : 0x1.fffffep-1f;
}

__METAL_MATH float modf(float x, float& whole) {
  whole = trunc(x);
  return copysign(is_inf(x) ? 0.0f : x - whole, x);
}

// m * 2^e = |x| with m in [1, 2), for finite x other than 0: returns m.
__METAL_MATH float decompose(float x, int& e) {
  float a = fabs(x);
  bool tiny = a < 0x1p-126f;
  unsigned u = bits_of(tiny ? a * 0x1p23f : a);
  e = static_cast<int>(u >> 23) - (tiny ? 150 : 127);
  return float_of((u & 0x7fffffu) | 0x3f800000u);
}

__METAL_MATH float frexp(float x, int& exponent) {
  int e;
  float m = decompose(x, e);
  bool plain = both(is_finite(x), x != 0.0f);
  exponent = plain ? e + 1 : 0;
  return plain ? copysign(0.5f * m, x) : x;
}

// The exponents that C's ilogb gives: FP_ILOGB0 is INT_MIN, FP_ILOGBNAN and infinity's INT_MAX.
__METAL_MATH int ilogb(float x) {
  int e;
  decompose(x, e);
  e = x == 0.0f ? static_cast<int>(0x80000000u) : e;
  return is_finite(x) ? e : 0x7fffffff;
}

__METAL_MATH float ldexp(float x, int k) {
  int e;
  float m = decompose(x, e);
  k = k > 1000 ? 1000 : k;
  k = k < -1000 ? -1000 : k;
  e += k;
  e = e > 200 ? 200 : e;
  e = e < -200 ? -200 : e;
  // The first factor is exact, so only the second rounds.
  int first = e > 127 ? 127 : e < -126 ? -126 : e;
  float v = copysign(m * pow2i(first) * pow2i(e - first), x);
  return both(is_finite(x), x != 0.0f) ? v : x;
}

__METAL_MATH float nextafter(float x, float y) {
  unsigned u = bits_of(x);
  bool away = (x < y) == ((u >> 31) == 0);
  unsigned step = away ? u + 1u : u - 1u;
  step = x == 0.0f ? (sign_bit(y) | 1u) : step;
  float r = x == y ? y : float_of(step);
  return either_nan(x, y) ? x + y : r;
}

// Exact for every pair: subtracts multiples of y * 2^k, 22 bits of the quotient at a time.
__METAL_MATH float fmod(float x, float y) {
  float ax = fabs(x), ay = fabs(y);
  float r = ax;
  bool valid = both(ax < infinity(), ay > 0.0f);
  bool tiny = ay < 0x1p-126f;
  int exponent = static_cast<int>(bits_of(tiny ? ay * 0x1p23f : ay) >> 23) - (tiny ? 23 : 0);
  while (valid && r >= ay) {
    // The quotient by the scaled y is less than 2^24, so every step is exact.
    int k = static_cast<int>(bits_of(r) >> 23) - exponent - 22;
    k = k < 0 ? 0 : k;
    float d = ay * pow2i(k >> 1) * pow2i(k - (k >> 1));
    float q = trunc(r / d);
    r = fma(-q, d, r);
    r = r < 0.0f ? r + d : r;
  }
  r = valid ? r : quiet_nan();
  return either_nan(x, y) ? x + y : copysign(r, x);
}

}  // namespace metal::__math

#pragma float_control(pop)
