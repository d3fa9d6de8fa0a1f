// Functions of half and bfloat that cannot be computed in float and rounded: fma, nextafter, fract.
#pragma once

#include "../metal_types"
#include "math_base.h"

#pragma float_control(precise, on, push)
#pragma clang fp contract(off)

namespace metal::__math {

// a * b + c for numbers of at most 11 bits, rounded to odd, so that a second rounding gives the
// correctly rounded result.
METAL_FUNC float fma_to_odd(float a, float b, float c) {
  float error, s = two_sum(a * b, c, error);
  unsigned u = bits_of(s);
  bool even_inexact = both(either(error > 0.0f, error < 0.0f), (u & 1u) == 0);
  // If the sum is even and not exact, moves it one step towards the exact value: up if the error is
  // away from zero, otherwise down.
  unsigned step = (error > 0.0f) == (s > 0.0f) ? u + 1u : u - 1u;
  return float_of(both(even_inexact, is_finite(s)) ? step : u);
}

// The neighbour of x in the direction of y, for 16-bit formats.
template <typename T>
METAL_FUNC T nextafter_narrow(T x, T y) {
  ushort u = __builtin_bit_cast(ushort, x);
  float fx = float(x), fy = float(y);
  bool away = (fx < fy) == ((u >> 15) == 0);
  ushort step = away ? ushort(u + 1) : ushort(u - 1);
  step = fx == 0.0f ? ushort((__builtin_bit_cast(ushort, y) & 0x8000) | 1) : step;
  T r = fx == fy ? y : __builtin_bit_cast(T, step);
  return fx != fx ? x : fy != fy ? y : r;
}

}  // namespace metal::__math

#pragma float_control(pop)
