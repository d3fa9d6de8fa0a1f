// The error function and its inverse. They have no branches, so that they vectorise.
#pragma once

#include <metal_math>

METAL_FUNC float erf(float x) {
  using namespace metal;
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
METAL_FUNC float erfinv(float x) {
  using namespace metal;
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
