// Hyperbolic functions and their inverses on float.
#pragma once

#include "exp_log.h"

#pragma float_control(precise, on, push)
#pragma clang fp contract(off)

namespace metal::__math {

__METAL_MATH float cosh(float x) {
  float h = exp_scaled(fabs(x), 0.5f);
  return h + 0.25f / h;
}

__METAL_MATH float sinh(float x) {
  float a = fabs(x);
  float z = a * a;
  float p = fma(0x1.756c1ep-19f, z, 0x1.a022bcp-13f);
  p = fma(p, z, 0x1.1110e0p-7f);
  p = fma(p, z, 0x1.555556p-3f);
  float small = fma(p, z * a, a);
  float h = exp_scaled(a, 0.5f);
  float v = a < 1.0f ? small : h - 0.25f / h;
  return flip_sign(v, sign_bit(x));
}

// h / (h + 1) with h = (e^2a - 1) / 2. The polynomial computes h of a remainder r as accurately as
// r is, so small and large numbers use the same code.
__METAL_MATH float tanh(float x) {
  float a = fabs(x);
  a = a > 10.0f ? 10.0f : a;
  float t = fma(a, 0x1.715476p+1f, kExponentMagic);
  float r = fma(t - kExponentMagic, -0x1.62e430p-2f, a);
  float p = 0x1.6b9c72p-5f;
  p = fma(p, r, 0x1.122546p-3f);
  p = fma(p, r, 0x1.5556f2p-2f);
  p = fma(p, r, 0x1.5554b4p-1f);
  p = fma(p, r, 0x1.fffffep-1f);
  p = fma(p, r * r, r);
  float scale = pow2_of(t);
  float h = fma(p, scale, fma(scale, 0.5f, -0.5f));
  return flip_sign(h / (h + 1.0f), sign_bit(x));
}

__METAL_MATH float log1p(float x) {
  float lo, hi = two_sum(1.0f, x, lo);
  return log_of_pair(hi, lo);
}

__METAL_MATH float asinh(float x) {
  float a = fabs(x);
  // Beyond 2^12, sqrt(x^2 + 1) rounds to x, so this is log(2x), computed as log(x) + log(2).
  bool big = a > 0x1p12f;
  float z = big ? 0.0f : a * a;
  float t = a + z / (1.0f + sqrt(z + 1.0f));
  float v = big ? log(a) + 0x1.62e430p-1f : log1p(t);
  return flip_sign(v, sign_bit(x));
}

__METAL_MATH float acosh(float x) {
  bool big = x > 0x1p12f;
  float d = (big ? 1.0f : x) - 1.0f;
  float v = big ? log(x) + 0x1.62e430p-1f : log1p(d + sqrt(fma(d, d, 2.0f * d)));
  return x < 1.0f ? quiet_nan() : v;
}

__METAL_MATH float atanh(float x) {
  float a = fabs(x);
  float v = 0.5f * log1p(2.0f * a / (1.0f - a));
  v = a == 1.0f ? infinity() : v;
  v = a > 1.0f ? quiet_nan() : v;
  return flip_sign(v, sign_bit(x));
}

}  // namespace metal::__math

#pragma float_control(pop)
