// Exponentials, logarithms and powers on float.
#pragma once

#include "../metal_types"
#include "math_base.h"

#pragma float_control(precise, on, push)
#pragma clang fp contract(off)

namespace metal::__math {

// Exponentials are computed as e^x = e^r * 2^n * 2^n. The last product overflows, or rounds
// denormals, where float cannot hold the result.

// e^r for |r| <= ln(2).
__METAL_MATH float exp_poly(float r) {
  float p = 0x1.9baa7ap-13f;
  p = fma(p, r, 0x1.71bf92p-10f);
  p = fma(p, r, 0x1.1126e4p-7f);
  p = fma(p, r, 0x1.5549eep-5f);
  p = fma(p, r, 0x1.555514p-3f);
  p = fma(p, r, 0x1.00000cp-1f);
  p = fma(p, r, 1.0f);
  return fma(p, r, 1.0f);
}

// e^x * factor. With a factor of 1/2, sinh and cosh are right even where e^x itself overflows.
__METAL_MATH float exp_scaled(float x, float factor) {
  x = x > 90.0f ? 90.0f : x;
  x = x < -105.0f ? -105.0f : x;
  float t = fma(x, 0x1.715476p-1f, kExponentMagic);
  float n = t - kExponentMagic;
  float r = fma(n, -0x1.62e400p+0f, x);
  r = fma(n, -0x1.7f7d1cp-19f, r);
  return exp_poly(r) * factor * pow2_of(t) * pow2_of(t);
}
// GPUs have an instruction for a part of it.
extern "C" inline float __metal_math_exp_precise(float x) { return exp_scaled(x, 1.0f); }
__METAL_MATH float exp(float x) { return __metal_math_exp_precise(x); }

// 2^r for |r| <= 1.
__METAL_MATH float exp2_poly(float r) {
  float p = 0x1.f4aae6p-17f;
  p = fma(p, r, 0x1.481d68p-13f);
  p = fma(p, r, 0x1.5dbe3ep-10f);
  p = fma(p, r, 0x1.3b1fe8p-7f);
  p = fma(p, r, 0x1.c6af9ep-5f);
  p = fma(p, r, 0x1.ebfbf8p-3f);
  p = fma(p, r, 0x1.62e432p-1f);
  return fma(p, r, 1.0f);
}

// 2^(x + low) for x in [-252, 252] and a low that is too small to affect the polynomial.
__METAL_MATH float exp2_sum(float x, float low) {
  float t = fma(x, 0.5f, kExponentMagic);
  float p = exp2_poly(fma(t - kExponentMagic, -2.0f, x) + low);
  return p * pow2_of(t) * pow2_of(t);
}

__METAL_MATH float exp2(float x) {
  x = x > 129.0f ? 129.0f : x;
  x = x < -151.0f ? -151.0f : x;
  return exp2_sum(x, 0.0f);
}

__METAL_MATH float exp10(float x) {
  x = x > 39.0f ? 39.0f : x;
  x = x < -46.0f ? -46.0f : x;
  float t = fma(x, 0x1.a934f0p+0f, kExponentMagic);
  float n = t - kExponentMagic;
  float r = fma(n, -0x1.344000p-1f, x);
  r = fma(n, -0x1.3509f8p-17f, r);
  float p = 0x1.13e6eap-4f;
  p = fma(p, r, 0x1.aea2d4p-3f);
  p = fma(p, r, 0x1.14419ap-1f);
  p = fma(p, r, 0x1.2bcce2p+0f);
  p = fma(p, r, 0x1.04701cp+1f);
  p = fma(p, r, 0x1.53525ep+1f);
  p = fma(p, r, 0x1.26bb1cp+1f);
  return fma(p, r, 1.0f) * pow2_of(t) * pow2_of(t);
}

// x = (1 + f) * 2^k with f in [-1/3, 1/3), for positive finite x: returns f.
__METAL_MATH float log_split(float x, float& k) {
  bool tiny = x < 0x1p-126f;
  unsigned u = bits_of(tiny ? x * 0x1p23f : x);
  unsigned e = (u - 0x3f2aaaabu) & 0xff800000u;
  k = static_cast<float>(static_cast<int>(e) >> 23);
  k = tiny ? k - 23.0f : k;
  return float_of(u - e) - 1.0f;
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

// Replaces r by log's results at 0, infinity, NaN and negative numbers.
__METAL_MATH float log_specials(float x, float r) {
  r = x < infinity() ? r : x;
  r = x < 0.0f ? quiet_nan() : r;
  return x == 0.0f ? -infinity() : r;
}

__METAL_MATH float log(float x) {
  float k, f = log_split(x, k);
  return log_specials(x, fma(k, 0x1.62e430p-1f, f + log1p_tail(f)));
}

__METAL_MATH float log2(float x) {
  float k, f = log_split(x, k);
  float low = fma(log1p_tail(f), 0x1.715476p+0f, f * 0x1.4ae0c0p-26f);
  return log_specials(x, fma(f, 0x1.715476p+0f, low) + k);
}

__METAL_MATH float log10(float x) {
  float k, f = log_split(x, k);
  float low = fma(log1p_tail(f), 0x1.bcb7b2p-2f, f * -0x1.5b235ep-27f);
  float r = fma(f, 0x1.bcb7b2p-2f, fma(k, -0x1.ec10c0p-27f, low));
  return log_specials(x, fma(k, 0x1.344136p-2f, r));
}

// log(hi + lo) for hi >= 1/2, where lo is a rounding error of hi. It matters if hi - 1 is small.
__METAL_MATH float log_of_pair(float hi, float lo) {
  unsigned u = bits_of(hi);
  unsigned e = (u - 0x3f2aaaabu) & 0xff800000u;
  float k = static_cast<float>(static_cast<int>(e) >> 23);
  float f = float_of(u - e) - 1.0f;
  float g = lo * float_of(0x3f800000u - e);
  float rest, s = two_sum(f, g, rest);
  float r = s + (log1p_tail(s) + rest);
  return fma(k, 0x1.62e430p-1f, r);
}

// log2 of a positive finite x to about 2^-30, as the sum of the result and lo: 2 atanh((m - 1) / (m
// + 1)) / ln(2) + k, of which the series' first term is a pair of floats. In the second one, s^3
// gets its rounding errors.
__METAL_MATH float log2_pair(float x, float& lo) {
  bool tiny = x < 0x1p-126f;
  unsigned u = bits_of(tiny ? x * 0x1p23f : x);
  unsigned e = (u - 0x3f3504f3u) & 0xff800000u;
  float k = static_cast<float>(static_cast<int>(e) >> 23);
  k = tiny ? k - 23.0f : k;
  float m = float_of(u - e);
  float num = m - 1.0f;
  float den_lo, den = fast_two_sum(1.0f, m, den_lo);  // exact, as 1 + m < 4
  float inverse = fast_divide(1.0f, den);             // s_lo makes up for its error
  float s = num * inverse;
  float s_lo = fma(-s, den_lo, fma(-s, den, num)) * inverse;
  float z = s * s, z_lo = fma(s, s, -z);
  float cube = s * z, cube_lo = fma(s, z, -cube);
  cube_lo = fma(3.0f * z, s_lo, fma(s, z_lo, cube_lo));
  float p = fma(0x1.5c6352p-2f, z, 0x1.a5964ap-2f);
  p = fma(p, z, 0x1.277768p-1f);
  p = fma(p, z, 0x1.ec709ep-1f);
  float a_lo, a = two_product(s, 0x1.715476p+1f, a_lo);
  a_lo = fma(s_lo, 0x1.715476p+1f, fma(s, 0x1.4ae0c0p-25f, a_lo));
  float tail = fma(cube_lo, 0x1.ec709ep-1f, fma(cube, p, a_lo));
  float rest, hi = fast_two_sum(k, a, rest);
  return fast_two_sum(hi, rest + tail, lo);
}

// |x|^y for numbers that are no special cases.
__METAL_MATH float pow_magnitude(float x, float y) {
  float log_lo, log_hi = log2_pair(fabs(x), log_lo);
  float lo, hi = two_product(y, log_hi, lo);
  lo = fma(y, log_lo, lo);
  // Beyond +-200 the result is infinity or 0 all the same; the comparisons also replace NaNs.
  lo = fabs(hi) < 200.0f ? lo : 0.0f;
  hi = hi < 200.0f ? hi : 200.0f;
  hi = hi > -200.0f ? hi : -200.0f;
  return exp2_sum(hi, lo);
}

__METAL_MATH bool is_odd_integer(float x) {
  float half_x = x * 0.5f;
  return both(rint(x) == x, trunc(half_x) != half_x);
}

// x^y where x is 0, infinite or NaN, or y is infinite or NaN. Later selects override earlier ones.
__METAL_MATH float pow_special(float x, float y) {
  float ax = fabs(x), ay = fabs(y);
  float zero_power = y < 0.0f ? infinity() : 0.0f;
  float infinity_power = y < 0.0f ? 0.0f : infinity();
  float r = ax == 0.0f ? zero_power : infinity_power;
  r = flip_sign(r, is_odd_integer(ay) ? sign_bit(x) : 0u);
  float unbounded = (ax > 1.0f) == (y > 0.0f) ? infinity() : 0.0f;
  unbounded = ax == 1.0f ? 1.0f : unbounded;
  r = ay == infinity() ? unbounded : r;
  r = either_nan(x, y) ? x + y : r;
  return either(x == 1.0f, y == 0.0f) ? 1.0f : r;
}

// x^y from |x|^y, where both are finite and x is negative.
__METAL_MATH float pow_of_negative(float y, float magnitude) {
  float r = is_odd_integer(y) ? -magnitude : magnitude;
  return rint(y) == y ? r : quiet_nan();
}

// Lanes, or threads of a GPU, skip the branches that none of them needs.
__METAL_MATH float pow(float x, float y) {
  if (either(y == 2.0f, y == 3.0f)) [[unlikely]]
    return y == 2.0f ? x * x : x * x * x;
  float r = pow_magnitude(x, y);
  if (sign_bit(x) != 0) [[unlikely]]
    r = pow_of_negative(y, r);
  bool is_special =
      either(bits_of(fabs(x)) - 1 >= kInfinityBits - 1, bits_of(fabs(y)) >= kInfinityBits);
  if (is_special) [[unlikely]]
    r = pow_special(x, y);
  return r;
}

__METAL_MATH float powr(float x, float y) { return x < 0.0f ? quiet_nan() : pow(x, y); }

// 2^r for |r| <= 1/2, to about 23 bits.
__METAL_MATH float short_exp2_poly(float r) {
  float p = 0x1.5ccc08p-10f;
  p = fma(p, r, 0x1.3cf5a0p-7f);
  p = fma(p, r, 0x1.c6b586p-5f);
  p = fma(p, r, 0x1.ebf9a0p-3f);
  p = fma(p, r, 0x1.62e42ap-1f);
  return fma(p, r, 1.0f);
}

// ---- for arguments and results of half and bfloat ----

// 2^r for |r| <= 1/2, to 18 bits.
__METAL_MATH float narrow_exp2_poly(float r) {
  float p = 0x1.3a02bep-7f;
  p = fma(p, r, 0x1.c9fc70p-5f);
  p = fma(p, r, 0x1.ec0378p-3f);
  p = fma(p, r, 0x1.62e12cp-1f);
  return fma(p, r, 1.0f);
}

// base^x * 2^extra, by adding to the exponent of 2^r, for results that are normal floats. `extra`
// is shifted to the exponent's bits.
__METAL_MATH float plain_exp_base(float x, float log2_base, unsigned extra) {
  float t = fma(x, log2_base, kRoundMagic);
  float p = narrow_exp2_poly(fma(x, log2_base, -(t - kRoundMagic)));
  return float_of(bits_of(p) + (bits_of(t) << 23) + extra);
}

// For any x. Small results are scaled down at the end.
__METAL_MATH float any_bfloat_exp_base(float x, float log2_base) {
  x = x < -140.0f / log2_base ? -140.0f / log2_base : x;
  const bool is_small = x < -64.0f / log2_base;
  float y = plain_exp_base(x, log2_base, is_small ? 64u << 23 : 0);
  return x < 128.0f / log2_base ? y * (is_small ? 0x1p-64f : 1.0f) : x + infinity();
}

// Results that are normal bfloats are rounded and combined as integers: in the sum of 2^16 and a
// number from 1 to 2, the low bits are the first 8 bits of the number. GPUs have an instruction.
extern "C" inline bfloat __metal_math_exp_bfloat(bfloat x, float log2_base) {
  const float middle = 0x1.6a0000p+0f;       // 2^log2_middle, and 181 / 128
  const float log2_middle = 0x1.ffd79ap-2f;  // so that 2^r * middle is from 1 to 2
  const float magic = kRoundMagic + 126.0f;
  float y = fma(x, log2_base, -log2_middle);
  float t = y + magic;
  float r = y - (t - magic);
  float p = 0x1.bc09bep-7f;
  p = fma(p, r, 0x1.43d020p-4f);
  p = fma(p, r, 0x1.5bde72p-2f);
  p = fma(p, r, 0x1.f5d266p-1f);
  p = fma(p, r, 0x1p16f + middle);
  ushort bits = static_cast<ushort>((bits_of(t) << 7) + bits_of(p));
  // NaNs are beyond the limit, too.
  const ushort limit = static_cast<ushort>(bits_of(126.0f / log2_base) >> 16);
  if ((__builtin_bit_cast(ushort, x) & 0x7fff) > limit) [[unlikely]]
    bits = __builtin_bit_cast(ushort, bfloat(any_bfloat_exp_base(x, log2_base)));
  return __builtin_bit_cast(bfloat, bits);
}
__METAL_MATH bfloat bfloat_exp_base(bfloat x, float log2_base) {
  return __metal_math_exp_bfloat(x, log2_base);
}
__METAL_MATH bfloat bfloat_exp2(bfloat x) { return bfloat_exp_base(x, 1.0f); }
__METAL_MATH bfloat bfloat_exp(bfloat x) { return bfloat_exp_base(x, 0x1.715476p+0f); }
__METAL_MATH bfloat bfloat_exp10(bfloat x) { return bfloat_exp_base(x, 0x1.a934f0p+1f); }

// Beyond these exponents, half has only 0 and infinity. 2^n is a factor, since the sum of a NaN's
// bits and an exponent need not be a NaN. GPUs have an instruction.
extern "C" inline float __metal_math_exp_half(float x, float log2_base) {
  x = x > 18.0f / log2_base ? 18.0f / log2_base : x;
  x = x < -28.0f / log2_base ? -28.0f / log2_base : x;
  float t = fma(x, log2_base, kExponentMagic);
  return narrow_exp2_poly(fma(x, log2_base, -(t - kExponentMagic))) * pow2_of(t);
}
__METAL_MATH float half_exp_base(float x, float log2_base) {
  return __metal_math_exp_half(x, log2_base);
}
__METAL_MATH float half_exp2(float x) { return half_exp_base(x, 1.0f); }
__METAL_MATH float half_exp(float x) { return half_exp_base(x, 0x1.715476p+0f); }
__METAL_MATH float half_exp10(float x) { return half_exp_base(x, 0x1.a934f0p+1f); }

// ---- fast versions: no denormals, fewer terms ----

// base^x from the base's log2. The product enters the remainder unrounded; results under 2^-126 are
// 0. GPUs have an instruction for it.
extern "C" inline float __metal_math_exp(float x, float log2_base) {
  x = x > 128.0f / log2_base ? 128.0f / log2_base : x;
  x = x < -127.0f / log2_base ? -127.0f / log2_base : x;
  float t = fma(x, log2_base, kExponentMagic);
  float r = fma(x, log2_base, -(t - kExponentMagic));
  return short_exp2_poly(r) * pow2_of(t);
}
__METAL_MATH float fast_exp_base(float x, float log2_base) {
  return __metal_math_exp(x, log2_base);
}
__METAL_MATH float fast_exp2(float x) { return fast_exp_base(x, 1.0f); }
__METAL_MATH float fast_exp(float x) { return fast_exp_base(x, 0x1.715476p+0f); }
__METAL_MATH float fast_exp10(float x) { return fast_exp_base(x, 0x1.a934f0p+1f); }

// GPUs have an instruction for it.
extern "C" inline float __metal_math_log2(float x) {
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
__METAL_MATH float fast_log2(float x) { return __metal_math_log2(x); }
__METAL_MATH float fast_log(float x) { return fast_log2(x) * 0x1.62e430p-1f; }
__METAL_MATH float fast_log10(float x) { return fast_log2(x) * 0x1.344136p-2f; }
__METAL_MATH float fast_pow(float x, float y) { return fast_exp2(y * fast_log2(x)); }

}  // namespace metal::__math

#pragma float_control(pop)
