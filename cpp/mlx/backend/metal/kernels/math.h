// Functions of float that Metal's library lacks or computes inaccurately near zero. They have no
// branches, so that they vectorise.
#pragma once

#include <metal_stdlib>

using namespace metal;

// exp(x) - 1 = 2^k (expm1(r) + 1) - 1 with x = k ln 2 + r.
inline float expm1_(float x) {
  float k = rint(x * 1.44269504f);
  float r = fma(k, -0.693145752f, x);
  r = fma(k, -1.42860677e-6f, r);
  float p = 1.388250467e-03f;
  p = fma(p, r, 8.366595779e-03f);
  p = fma(p, r, 4.166720231e-02f);
  p = fma(p, r, 1.666654306e-01f);
  p = fma(p, r, 4.999999814e-01f);
  p = fma(p * r, r, r);
  // 2^(k-1), doubled at the end, so that k = 128 does not overflow before.
  float kc = clamp(k, -60.0f, 129.0f);
  float scale = as_type<float>(static_cast<uint>(static_cast<int>(kc) + 126) << 23);
  float y = fma(p, scale, scale - 0.5f) * 2.0f;
  y = x > 88.7228394f ? INFINITY : y;
  y = x < -25.0f ? -1.0f : y;
  y = k == 0.0f ? p : y;
  return isnan(x) ? x : y;
}

// log(1 + x) = k * log(2) + log(1 + r), where 1 + x = 2^k * (1 + r) and 2/3 <= 1 + r < 4/3. The
// polynomial is that of `log`.
inline float log1p_(float x) {
  float u = 1.0f + x;
  float lost = x - (u - 1.0f);  // by the rounding of u
  int k = (as_type<int>(u) - 0x3f2aaaab) >> 23;
  float part = as_type<float>(as_type<int>(u) - (k << 23));
  float unit = as_type<float>((127 - min(k, 126)) << 23);
  float r = fma(lost, unit, part - 1.0f);
  float p = -0.128923818f;
  p = fma(p, r, 0.139851064f);
  p = fma(p, r, -0.12184117f);
  p = fma(p, r, 0.140057445f);
  p = fma(p, r, -0.166804969f);
  p = fma(p, r, 0.20010413f);
  p = fma(p, r, -0.249997973f);
  p = fma(p, r, 0.333332151f);
  p = fma(p, r, -0.5f);
  float y = fma(static_cast<float>(k), 0.693147182f, fma(r * r, p, r));
  y = u == 1.0f ? x : y;
  y = u < INFINITY ? y : u;
  y = u > 0.0f ? y : NAN;
  return u == 0.0f ? -INFINITY : y;
}

inline float erf_(float x) {
  float t = fabs(x);
  float s = x * x;
  float p = -5.953882388e-04f;
  p = fma(p, s, 4.985974326e-03f);
  p = fma(p, s, -2.676174932e-02f);
  p = fma(p, s, 1.128168367e-01f);
  p = fma(p, s, -3.761248128e-01f);
  p = fma(p, s, 1.283791478e-01f);
  float small = fma(p, x, x);
  // erfc(t) = exp(-q(t))
  float c = min(t, 4.05f);
  float q = 2.116190573e-05f;
  q = fma(q, c, -4.352188776e-04f);
  q = fma(q, c, 4.174642982e-03f);
  q = fma(q, c, -2.512862449e-02f);
  q = fma(q, c, 1.082939465e-01f);
  q = fma(q, c, 6.333346531e-01f);
  q = fma(q, c, 1.129520823e+00f);
  q = fma(q, c, -1.758745507e-04f);
  float large = copysign(1.0f - precise::exp(-q), x);
  float y = t > 0.925f ? large : small;
  return isnan(x) ? x : y;
}

// Polynomials in w = -log(1 - x^2) around the centre, in sqrt(w) towards the ends.
inline float erfinv_(float x) {
  float w = -precise::log((1.0f - x) * (1.0f + x));
  float c = w - 2.5f;
  float p = 2.853478573e-08f;
  p = fma(p, c, 3.437270626e-07f);
  p = fma(p, c, -3.528859500e-06f);
  p = fma(p, c, -4.396781280e-06f);
  p = fma(p, c, 2.186021938e-04f);
  p = fma(p, c, -1.253707515e-03f);
  p = fma(p, c, -4.177707744e-03f);
  p = fma(p, c, 2.466407261e-01f);
  p = fma(p, c, 1.501409422e+00f);
  float e = sqrt(max(w, 0.0f)) - 3.0f;
  float q = -1.654265067e-04f;
  q = fma(q, e, 8.610617775e-05f);
  q = fma(q, e, 1.300222464e-03f);
  q = fma(q, e, -3.660135278e-03f);
  q = fma(q, e, 5.761800348e-03f);
  q = fma(q, e, -7.625305162e-03f);
  q = fma(q, e, 9.435622229e-03f);
  q = fma(q, e, 1.001674183e+00f);
  q = fma(q, e, 2.832976990e+00f);
  float y = (w < 5.0f ? p : q) * x;
  y = fabs(x) == 1.0f ? x * INFINITY : y;
  return fabs(x) > 1.0f ? NAN : y;
}

// sin, cos and tan of large arguments, inverse functions etc. come from metal::precise.
inline float sigmoid_(float x) {
  float e = precise::exp(-fabs(x));
  float y = 1.0f / (1.0f + e);
  return x < 0.0f ? e * y : y;
}

inline float logaddexp_(float a, float b) {
  float hi = a > b ? a : b;
  float lo = a > b ? b : a;
  float y = hi + log1p_(precise::exp(lo - hi));
  y = (hi == INFINITY || lo == -INFINITY) ? hi : y;
  return (isnan(a) || isnan(b)) ? NAN : y;
}
