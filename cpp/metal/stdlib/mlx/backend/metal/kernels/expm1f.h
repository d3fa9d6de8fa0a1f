// exp(x) - 1 without the loss of x's low bits near zero. It has no branches, so that it vectorises.
#pragma once

#include <metal_math>

// exp(x) - 1 = 2^k (expm1(r) + 1) - 1 with x = k ln 2 + r.
METAL_FUNC float expm1f(float x) {
  using namespace metal;
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
