// Trigonometric functions on float and their inverses.
#pragma once

#include "math_base.h"

#pragma float_control(precise, on, push)
#pragma clang fp contract(off)

namespace metal::__math {

// sin(r) for |r| <= pi/4, z = r^2.
__METAL_MATH float sin_poly(float r, float z) {
  float p = fma(-0x1.991c26p-13f, z, 0x1.1106c6p-7f);
  p = fma(p, z, -0x1.555544p-3f);
  return fma(r * z, p, r);
}
// cos(r) for |r| <= pi/4, z = r^2.
__METAL_MATH float cos_poly(float z) {
  float p = fma(0x1.99e714p-16f, z, -0x1.6c0c26p-10f);
  p = fma(p, z, 0x1.55554ap-5f);
  p = fma(p, z, -0.5f);
  return fma(p, z, 1.0f);
}

// The reductions return r, with |r| only slightly above pi/4, for x = q * pi/2 + r.

// Payne and Hanek: multiplies x >= 2^15 by the 96 relevant bits of 2/pi, modulo 4.
__METAL_MATH float reduce_large(float x, unsigned& q) {
  unsigned u = bits_of(x);
  unsigned start = ((u >> 23) & 0xffu) - 128u;
  unsigned long long mantissa = (u << 8) | 0x80000000u;
  bool skip2 = (start & 64u) != 0, skip1 = (start & 32u) != 0;
  unsigned a0 = skip2 ? 0x4e441529u : 0u;
  unsigned a1 = skip2 ? 0xfc2757d1u : 0xa2f9836eu;
  unsigned a2 = skip2 ? 0xf534ddc0u : 0x4e441529u;
  unsigned a3 = skip2 ? 0xdb629599u : 0xfc2757d1u;
  unsigned a4 = skip2 ? 0x3c439041u : 0xf534ddc0u;
  a0 = skip1 ? a1 : a0;
  a1 = skip1 ? a2 : a1;
  a2 = skip1 ? a3 : a2;
  a3 = skip1 ? a4 : a3;
  unsigned shift = start & 31u;
  unsigned long long head = ((static_cast<unsigned long long>(a0) << 32) | a1) << shift;
  unsigned long long middle = ((static_cast<unsigned long long>(a1) << 32) | a2) << shift;
  unsigned long long tail = ((static_cast<unsigned long long>(a2) << 32) | a3) << shift;
  unsigned long long product = (mantissa * (tail >> 32)) >> 32;
  product += mantissa * (middle >> 32);
  product += (mantissa * (head >> 32)) << 32;
  unsigned long long quadrant = (product + (1ull << 61)) >> 62;
  unsigned long long fraction = product - (quadrant << 62);
  unsigned negative = static_cast<unsigned>(fraction >> 32) & 0x80000000u;
  fraction = negative != 0 ? 0 - fraction : fraction;
  // 61 bits as three floats, then as two.
  float top = static_cast<float>(static_cast<int>(fraction >> 37)) * 0x1p37f;
  float middle_part = static_cast<float>(static_cast<int>(fraction >> 13) & 0xffffff) * 0x1p13f;
  float low_part = static_cast<float>(static_cast<int>(fraction) & 0x1fff);
  float lo, hi = fast_two_sum(top, middle_part, lo);
  lo += low_part;
  float r = fma(hi, 0x1.921fb6p-62f, fma(hi, -0x1.777a5cp-87f, lo * 0x1.921fb6p-62f));
  q = static_cast<unsigned>(quadrant);
  return x < infinity() ? flip_sign(r, negative) : quiet_nan();
}

// Cody and Waite with three parts of pi/2, for 0 <= x < 2^15 or so.
__METAL_MATH float reduce_small(float x, unsigned& q) {
  float t = fma(x, 0x1.45f306p-1f, kRoundMagic);
  float n = t - kRoundMagic;
  float r = fma(n, -0x1.921fb6p+0f, x);
  r = fma(n, 0x1.777a5cp-25f, r);
  q = bits_of(t);
  return fma(n, 0x1.ee59dap-50f, r);
}

__METAL_MATH float reduce(float x, unsigned& q) {
  float r = reduce_small(x, q);
  if (x >= 0x1p15f) [[unlikely]] {
    r = reduce_large(x, q);
  }
  return r;
}

__METAL_MATH float sin_of(float r, unsigned q, unsigned sign) {
  float z = r * r;
  float v = (q & 1u) != 0 ? cos_poly(z) : sin_poly(r, z);
  return flip_sign(v, ((q << 30) & 0x80000000u) ^ sign);
}
__METAL_MATH float cos_of(float r, unsigned q) {
  float z = r * r;
  float v = (q & 1u) != 0 ? sin_poly(r, z) : cos_poly(z);
  return flip_sign(v, ((q + 1u) << 30) & 0x80000000u);
}
__METAL_MATH float tan_of(float r, unsigned q, unsigned sign) {
  float z = r * r;
  float p = 0x1.1f8feap-8f;
  p = fma(p, z, 0x1.24a9b2p-14f);
  p = fma(p, z, 0x1.6375dap-7f);
  p = fma(p, z, 0x1.5ca42ap-6f);
  p = fma(p, z, 0x1.badbfcp-5f);
  p = fma(p, z, 0x1.110d96p-3f);
  p = fma(p, z, 0x1.555560p-2f);
  float v = fma(r * z, p, r);
  v = (q & 1u) != 0 ? -1.0f / v : v;
  return flip_sign(v, sign);
}

__METAL_MATH float sin(float x) {
  unsigned q;
  float r = reduce(fabs(x), q);
  return sin_of(r, q, sign_bit(x));
}
__METAL_MATH float cos(float x) {
  unsigned q;
  float r = reduce(fabs(x), q);
  return cos_of(r, q);
}
__METAL_MATH float tan(float x) {
  unsigned q;
  float r = reduce(fabs(x), q);
  return tan_of(r, q, sign_bit(x));
}
__METAL_MATH float sincos(float x, float& c) {
  unsigned q;
  float r = reduce(fabs(x), q);
  c = cos_of(r, q);
  return sin_of(r, q, sign_bit(x));
}

// x = q / 2 + r, modulo 2, for x >= 0: returns r, |r| <= 1/4 and exact.
__METAL_MATH float reduce_pi(float x, unsigned& q) {
  float y = fma(-2.0f, trunc(x * 0.5f), x);
  float t = fma(y, 2.0f, kRoundMagic);
  q = bits_of(t);
  return fma(t - kRoundMagic, -0.5f, y);
}
__METAL_MATH float sinpi_poly(float r, float z) {
  float p = fma(-0x1.2db5cep-1f, z, 0x1.465facp+1f);
  p = fma(p, z, -0x1.4abbbep+2f);
  return fma(r, 0x1.921fb6p+1f, r * fma(p, z, -0x1.777a5cp-24f));
}
__METAL_MATH float cospi_poly(float z) {
  float p = fma(0x1.d4f7eep-3f, z, -0x1.55b2b6p+0f);
  p = fma(p, z, 0x1.03c1b0p+2f);
  p = fma(p, z, -0x1.3bd3ccp+2f);
  return fma(p, z, 1.0f);
}
__METAL_MATH float sinpi(float x) {
  unsigned q;
  float r = reduce_pi(fabs(x), q), z = r * r;
  float v = (q & 1u) != 0 ? cospi_poly(z) : sinpi_poly(r, z);
  return flip_sign((q & 2u) != 0 ? 0.0f - v : v, sign_bit(x));
}
__METAL_MATH float cospi(float x) {
  unsigned q;
  float r = reduce_pi(fabs(x), q), z = r * r;
  float v = (q & 1u) != 0 ? sinpi_poly(r, z) : cospi_poly(z);
  return ((q + 1u) & 2u) != 0 ? 0.0f - v : v + 0.0f;
}
__METAL_MATH float tanpi(float x) {
  unsigned q;
  float r = reduce_pi(fabs(x), q), z = r * r;
  float s = sinpi_poly(r, z), c = cospi_poly(z);
  bool odd = (q & 1u) != 0;
  float v = (odd ? -c : s) / (odd ? s : c);
  // At the zeros and poles the sign alternates with the integer part.
  float at_zero = flip_sign(odd ? infinity() : 0.0f, (q << 30) & 0x80000000u);
  return flip_sign(r == 0.0f ? at_zero : v, sign_bit(x));
}

// (asin(x) - x) / x^3 in z = x^2 for |x| <= 1/2.
__METAL_MATH float asin_tail(float z) {
  float p = fma(0x1.334b70p-5f, z, 0x1.d802dcp-7f);
  p = fma(p, z, 0x1.04b9f2p-5f);
  p = fma(p, z, 0x1.6ca7fap-5f);
  p = fma(p, z, 0x1.3338acp-4f);
  return fma(p, z, 0x1.55554cp-3f);
}
__METAL_MATH float asin(float x) {
  float a = fabs(x);
  bool big = a > 0.5f;
  float z = big ? fma(a, -0.5f, 0.5f) : a * a;
  float s = big ? sqrt(z) : a;
  float tail = s * z * asin_tail(z);
  // pi/2 - 2 (s + tail), with the rounding error of pi/2 folded into the small part.
  float v = big ? fma(-2.0f, s, 0x1.921fb6p+0f) - fma(2.0f, tail, 0x1.777a5cp-25f) : s + tail;
  return flip_sign(v, sign_bit(x));
}
__METAL_MATH float acos(float x) {
  float a = fabs(x);
  bool big = a > 0.5f;
  float z = big ? fma(a, -0.5f, 0.5f) : a * a;
  float s = big ? sqrt(z) : a;
  float tail = s * z * asin_tail(z);
  bool negative = x < 0.0f;
  // asin(|x|) or, if `big`, half of acos(|x|); then pi/2 or pi minus it.
  float direct = 2.0f * (s + tail);
  float signed_s = negative ? -s : s, signed_tail = negative ? -tail : tail;
  float middle = (0x1.921fb6p+0f - signed_s) - (signed_tail + 0x1.777a5cp-25f);
  float left = fma(-2.0f, s, 0x1.921fb6p+1f) - fma(2.0f, tail, 0x1.777a5cp-24f);
  return big ? (negative ? left : direct) : middle;
}

// atan(x) for 0 <= x <= 1.
__METAL_MATH float atan_poly(float x) {
  float z = x * x;
  float p = -0x1.d33a56p-10f;
  p = fma(p, z, 0x1.641a72p-7f);
  p = fma(p, z, -0x1.fd797cp-6f);
  p = fma(p, z, 0x1.da2958p-5f);
  p = fma(p, z, -0x1.58091cp-4f);
  p = fma(p, z, 0x1.c08c50p-4f);
  p = fma(p, z, -0x1.242086p-3f);
  p = fma(p, z, 0x1.9991e4p-3f);
  p = fma(p, z, -0x1.55553ep-2f);
  return fma(p, z * x, x);
}
__METAL_MATH float atan(float x) {
  float a = fabs(x);
  bool big = a > 1.0f;
  float v = atan_poly(big ? 1.0f / a : a);
  v = big ? (0x1.921fb6p+0f - v) - 0x1.777a5cp-25f : v;
  return flip_sign(v, sign_bit(x));
}
__METAL_MATH float atan2(float y, float x) {
  float ay = fabs(y), ax = fabs(x);
  bool steep = ay > ax;
  float num = steep ? ax : ay, den = steep ? ay : ax;
  float q = num / den;
  q = den == 0.0f ? 0.0f : q;
  q = num == infinity() ? 1.0f : q;
  float v = atan_poly(q);
  v = steep ? (0x1.921fb6p+0f - v) - 0x1.777a5cp-25f : v;
  v = sign_bit(x) != 0 ? (0x1.921fb6p+1f - v) - 0x1.777a5cp-24f : v;
  v = either_nan(x, y) ? x + y : v;
  return flip_sign(v, sign_bit(y));
}

// ---- fast versions: no huge arguments ----

// sin(r) for |r| <= pi/2.
__METAL_MATH float fast_sin_poly(float r) {
  float z = r * r;
  float p = fma(0x1.5dc754p-19f, z, -0x1.9f70e2p-13f);
  p = fma(p, z, 0x1.110edap-7f);
  p = fma(p, z, -0x1.55554cp-3f);
  return fma(r * z, p, r);
}
__METAL_MATH float fast_sin(float x) {
  float t = fma(x, 0x1.45f306p-2f, kRoundMagic);
  float n = t - kRoundMagic;
  float r = fma(n, -0x1.921fb6p+1f, x);
  r = fma(n, 0x1.777a5cp-24f, r);
  return flip_sign(fast_sin_poly(r), bits_of(t) << 31);
}
__METAL_MATH float fast_cos(float x) {
  float t = fma(x, 0x1.45f306p-2f, -0.5f) + kRoundMagic;
  float n = fma(2.0f, t - kRoundMagic, 1.0f);
  float r = fma(n, -0x1.921fb6p+0f, x);
  r = fma(n, 0x1.777a5cp-25f, r);
  return flip_sign(fast_sin_poly(r), ~bits_of(t) << 31);
}
__METAL_MATH float fast_sincos(float x, float& c) {
  unsigned q;
  float r = reduce_small(fabs(x), q);
  c = cos_of(r, q);
  return sin_of(r, q, sign_bit(x));
}
__METAL_MATH float fast_tan(float x) {
  unsigned q;
  float r = reduce_small(fabs(x), q);
  return tan_of(r, q, sign_bit(x));
}

}  // namespace metal::__math

#pragma float_control(pop)
