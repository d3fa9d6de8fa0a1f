// Exponentials, logarithms and powers on float.
#pragma once

#include "math_base.h"

#pragma float_control(precise, on, push)
#pragma clang fp contract(off)

namespace metal::__math {

// e^r for |r| <= ln(2)/2.
__METAL_MATH float exp_poly(float r) {
  float p = 0x1.6ab89ep-10f;
  p = fma(p, r, 0x1.123d70p-7f);
  p = fma(p, r, 0x1.55585ap-5f);
  p = fma(p, r, 0x1.55548cp-3f);
  p = fma(p, r, 0x1.fffffcp-2f);
  return fma(r * r, p, r) + 1.0f;
}

// e^x * 2^extra: the shift lets sinh and cosh pass the point where e^x itself overflows.
__METAL_MATH float exp_scaled(float x, int extra) {
  x = x > 90.0f ? 90.0f : x;
  x = x < -105.0f ? -105.0f : x;
  float t = fma(x, 0x1.715476p+0f, kRoundMagic);
  float n = t - kRoundMagic;
  float r = fma(n, -0x1.62e400p-1f, x);
  r = fma(n, -0x1.7f7d1cp-20f, r);
  return scale2(exp_poly(r), magic_int(t) + extra);
}
__METAL_MATH float exp(float x) { return exp_scaled(x, 0); }

// 2^r for |r| <= 1/2.
__METAL_MATH float exp2_poly(float r) {
  float p = 0x1.1761c8p-13f;
  p = fma(p, r, 0x1.5ef7bcp-10f);
  p = fma(p, r, 0x1.3b6818p-7f);
  p = fma(p, r, 0x1.c6af9ep-5f);
  p = fma(p, r, 0x1.ebfb94p-3f);
  p = fma(p, r, 0x1.62e430p-1f);
  return fma(p, r, 1.0f);
}

__METAL_MATH float exp2(float x) {
  x = x > 129.0f ? 129.0f : x;
  x = x < -151.0f ? -151.0f : x;
  float t = x + kRoundMagic;
  return scale2(exp2_poly(x - (t - kRoundMagic)), magic_int(t));
}

__METAL_MATH float exp10(float x) {
  x = x > 39.0f ? 39.0f : x;
  x = x < -46.0f ? -46.0f : x;
  float t = fma(x, 0x1.a934f0p+1f, kRoundMagic);
  float n = t - kRoundMagic;
  float r = fma(n, -0x1.344000p-2f, x);
  r = fma(n, -0x1.3509f8p-18f, r);
  float p = 0x1.836722p-3f;
  p = fma(p, r, 0x1.156270p-1f);
  p = fma(p, r, 0x1.2bff94p+0f);
  p = fma(p, r, 0x1.046fa6p+1f);
  p = fma(p, r, 0x1.535226p+1f);
  p = fma(p, r, 0x1.26bb1cp+1f);
  return scale2(fma(p, r, 1.0f), magic_int(t));
}

// x = (1 + f) * 2^k with f in [-1/3, 1/3), for positive finite x.
struct Split {
  float f, k;
};
__METAL_MATH Split log_split(float x) {
  bool tiny = x < 0x1p-126f;
  unsigned u = bits_of(tiny ? x * 0x1p23f : x);
  unsigned e = (u - 0x3f2aaaabu) & 0xff800000u;
  float k = static_cast<float>(static_cast<int>(e) >> 23);
  return {float_of(u - e) - 1.0f, tiny ? k - 23.0f : k};
}

// log(1 + f) - f for f in [-1/3, 1/3].
__METAL_MATH float log1p_tail(float f) {
  float p = -0x1.080936p-3f;
  p = fma(p, f, 0x1.1e6a3cp-3f);
  p = fma(p, f, -0x1.f30fbap-4f);
  p = fma(p, f, 0x1.1ed670p-3f);
  p = fma(p, f, -0x1.559dd8p-3f);
  p = fma(p, f, 0x1.99d032p-3f);
  p = fma(p, f, -0x1.fffef0p-3f);
  p = fma(p, f, 0x1.555506p-2f);
  p = fma(p, f, -0.5f);
  return p * (f * f);
}

// Puts log's results at 0, infinity, NaN and negative numbers in place of r.
__METAL_MATH float log_specials(float x, float r) {
  r = x < infinity() ? r : x;
  r = x < 0.0f ? quiet_nan() : r;
  return x == 0.0f ? -infinity() : r;
}

__METAL_MATH float log(float x) {
  Split s = log_split(x);
  float r = fma(s.k, 0x1.62e430p-1f, s.f + log1p_tail(s.f));
  return log_specials(x, r);
}

__METAL_MATH float log2(float x) {
  Split s = log_split(x);
  float low = fma(log1p_tail(s.f), 0x1.715476p+0f, s.f * 0x1.4ae0c0p-26f);
  return log_specials(x, fma(s.f, 0x1.715476p+0f, low) + s.k);
}

__METAL_MATH float log10(float x) {
  Split s = log_split(x);
  float low = fma(log1p_tail(s.f), 0x1.bcb7b2p-2f, s.f * -0x1.5b235ep-27f);
  float r = fma(s.f, 0x1.bcb7b2p-2f, fma(s.k, -0x1.ec10c0p-27f, low));
  return log_specials(x, fma(s.k, 0x1.344136p-2f, r));
}

// log(hi + lo) for hi >= 1/2, where lo is a rounding error of hi, of any weight once hi - 1 is small.
__METAL_MATH float log_of_pair(float hi, float lo) {
  unsigned u = bits_of(hi);
  unsigned e = (u - 0x3f2aaaabu) & 0xff800000u;
  float k = static_cast<float>(static_cast<int>(e) >> 23);
  float f = float_of(u - e) - 1.0f;
  float g = lo * float_of(0x3f800000u - e);
  Pair s = two_sum(f, g);
  float r = s.hi + (log1p_tail(s.hi) + s.lo);
  return fma(k, 0x1.62e430p-1f, r);
}

// log2 of a positive finite x to about 2^-32, as a pair: 2 atanh((m - 1) / (m + 1)) / ln(2) + k.
__METAL_MATH Pair log2_pair(float x) {
  bool tiny = x < 0x1p-126f;
  unsigned u = bits_of(tiny ? x * 0x1p23f : x);
  unsigned e = (u - 0x3f3504f3u) & 0xff800000u;
  float k = static_cast<float>(static_cast<int>(e) >> 23);
  k = tiny ? k - 23.0f : k;
  float m = float_of(u - e);
  float num = m - 1.0f;
  Pair den = fast_two_sum(m, 1.0f);
  den = m < 1.0f ? fast_two_sum(1.0f, m) : den;
  float inverse = 1.0f / den.hi;
  float s = num * inverse;
  float s_lo = fma(-s, den.lo, fma(-s, den.hi, num)) * inverse;
  float z = s * s;
  float p = fma(0x1.59ef56p-2f, z, 0x1.a5bbf2p-2f);
  p = fma(p, z, 0x1.27770ep-1f);
  // (2/ln 2) * (s + s^3/3) exactly enough, the rest of the series in one float.
  Pair a = two_product(s, 0x1.715476p+1f);
  float a_lo = fma(s, 0x1.4ae0c0p-25f, fma(s_lo, 0x1.715476p+1f, a.lo));
  float z_lo = fma(s, s, -z) + 2.0f * s * s_lo;
  Pair cube = two_product(s, z);
  float cube_lo = fma(s, z_lo, fma(s_lo, z, cube.lo));
  Pair b = two_product(cube.hi, 0x1.ec709ep-1f);
  float b_lo = fma(cube.hi, -0x1.e2fe02p-28f, fma(cube_lo, 0x1.ec709ep-1f, b.lo));
  float tail = fma(cube.hi * z, p, b_lo + a_lo);
  Pair sum = fast_two_sum(a.hi, b.hi);
  Pair with_k = two_sum(k, sum.hi);
  return fast_two_sum(with_k.hi, with_k.lo + (sum.lo + tail));
}

// |x|^y for the numbers that need no special care.
__METAL_MATH float pow_magnitude(float x, float y) {
  Pair l = log2_pair(fabs(x));
  Pair p = two_product(y, l.hi);
  float lo = fma(y, l.lo, p.lo);
  float hi = p.hi;
  bool out = !(fabs(hi) < 200.0f);
  float t = (out ? 0.0f : hi) + kRoundMagic;
  float r = (out ? 0.0f : hi) - (t - kRoundMagic);
  // 2^(r + lo) = 2^r + 2^r * ln(2) * lo; lo also moves r past 1/2 by less than the polynomial minds.
  float value = scale2(exp2_poly(r + lo), magic_int(t));
  return out ? (hi > 0.0f ? infinity() : 0.0f) : value;
}

__METAL_MATH float pow(float x, float y) {
  float ax = fabs(x), ay = fabs(y);
  float r = pow_magnitude(x, y);
  bool integer_y = rint(ay) == ay;
  bool odd_y = integer_y && ay < 0x1p24f && trunc(ay * 0.5f) != ay * 0.5f;
  bool zero_or_inf = ax == 0.0f || ax == infinity();
  r = zero_or_inf ? ((ax == 0.0f) == (y < 0.0f) ? infinity() : 0.0f) : r;
  bool grows = (ax > 1.0f) == (y > 0.0f);
  r = ay == infinity() ? (ax == 1.0f ? 1.0f : grows ? infinity() : 0.0f) : r;
  r = flip_sign(r, odd_y ? sign_bit(x) : 0u);
  r = x < 0.0f && ax != infinity() && !integer_y ? quiet_nan() : r;
  r = x != x || y != y ? x + y : r;
  return x == 1.0f || y == 0.0f ? 1.0f : r;
}

__METAL_MATH float powr(float x, float y) { return x < 0.0f ? quiet_nan() : pow(x, y); }

// ---- fast versions: no denormals, fewer terms ----

// base^x from the base's log2. The product enters the remainder unrounded; results under 2^-126 are 0.
__METAL_MATH float fast_exp_base(float x, float log2_base) {
  x = x > 128.0f / log2_base ? 128.0f / log2_base : x;
  x = x < -127.0f / log2_base ? -127.0f / log2_base : x;
  float t = fma(x, log2_base, kRoundMagic);
  float r = fma(x, log2_base, -(t - kRoundMagic));
  float p = 0x1.5ccc08p-10f;
  p = fma(p, r, 0x1.3cf5a0p-7f);
  p = fma(p, r, 0x1.c6b586p-5f);
  p = fma(p, r, 0x1.ebf9a0p-3f);
  p = fma(p, r, 0x1.62e42ap-1f);
  return fma(p, r, 1.0f) * pow2i(magic_int(t));
}
__METAL_MATH float fast_exp2(float x) { return fast_exp_base(x, 1.0f); }
__METAL_MATH float fast_exp(float x) { return fast_exp_base(x, 0x1.715476p+0f); }
__METAL_MATH float fast_exp10(float x) { return fast_exp_base(x, 0x1.a934f0p+1f); }

__METAL_MATH float fast_log2(float x) {
  unsigned u = bits_of(x);
  unsigned e = (u - 0x3f2aaaabu) & 0xff800000u;
  float f = float_of(u - e) - 1.0f;
  float p = -0x1.c60524p-3f;
  p = fma(p, f, 0x1.f997c6p-3f);
  p = fma(p, f, -0x1.e526b6p-3f);
  p = fma(p, f, 0x1.246f46p-2f);
  p = fma(p, f, -0x1.71714ep-2f);
  p = fma(p, f, 0x1.ec823cp-2f);
  p = fma(p, f, -0x1.715458p-1f);
  p = fma(p, f, 0x1.715472p+0f);
  float r = fma(p, f, static_cast<float>(static_cast<int>(e) >> 23));
  return log_specials(x, r);
}
__METAL_MATH float fast_log(float x) { return fast_log2(x) * 0x1.62e430p-1f; }
__METAL_MATH float fast_log10(float x) { return fast_log2(x) * 0x1.344136p-2f; }
__METAL_MATH float fast_pow(float x, float y) { return fast_exp2(y * fast_log2(x)); }

}  // namespace metal::__math

#pragma float_control(pop)
