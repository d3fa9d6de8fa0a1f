// What kernels share that multiply quantised rows by SIMD-group matrices.
#pragma once

#include "mlx/backend/metal/kernels/quantized_params.h"
#include "mlx/backend/metal/kernels/types.h"

constant constexpr uint kSide = 8;  // of a matrix
constant constexpr uint kRows = kFewVectorsRows;
constant constexpr uint kHigh = kRows / kSide;  // matrices above each other
constant constexpr uint kMostSimdgroups = kFewVectorsMostThreads / 32;

// Codes of `bits` bits as 16-bit floats: the fraction of a power of two holds the bits of a code,
// so `kOffset` is added to it. Pair `i` of the codes in a word are those at i and i + kPairs.
template <typename T, uint bits>
struct Codes;
template <>
struct Codes<half, 4> {
  enum : uint { kPairs = 4, kOffset = 16 };
  static half2 pair(uint word, uint i) {
    const uint moved = i < 2 ? word << (6 - 4 * i) : word >> (4 * i - 6);
    return as_type<half2>((moved & 0x03c003c0) | 0x4c004c00);
  }
};
template <>
struct Codes<bfloat16_t, 4> {
  enum : uint { kPairs = 4, kOffset = 16 };
  static vec<bfloat16_t, 2> pair(uint word, uint i) {
    const uint moved = i < 1 ? word << 3 : word >> (4 * i - 3);
    return as_type<vec<bfloat16_t, 2>>((moved & 0x00780078) | 0x41804180);
  }
};
template <>
struct Codes<half, 8> {
  enum : uint { kPairs = 2, kOffset = 256 };
  static half2 pair(uint word, uint i) {
    const uint moved = i < 1 ? word << 2 : word >> 6;
    return as_type<half2>((moved & 0x03fc03fc) | 0x5c005c00);
  }
};
// The fraction has only seven bits, so the highest bit is added, and there is no offset.
template <>
struct Codes<bfloat16_t, 8> {
  enum : uint { kPairs = 2, kOffset = 0 };
  static vec<bfloat16_t, 2> pair(uint word, uint i) {
    const uint codes = word >> (8 * i);
    const uint highest = (codes >> 7 & 0x00010001) * 0x4300;
    const uint others = (codes & 0x007f007f) | 0x43004300;
    return as_type<vec<bfloat16_t, 2>>(others) - vec<bfloat16_t, 2>(bfloat16_t(128.0f)) +
           as_type<vec<bfloat16_t, 2>>(highest);
  }
};
