// Functions of float that Metal's library lacks or computes inaccurately near zero. They have no
// branches, so that they vectorise.
#pragma once

#include <metal_stdlib>

#include "mlx/backend/metal/kernels/erf.h"
#include "mlx/backend/metal/kernels/expm1f.h"

using namespace metal;

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
