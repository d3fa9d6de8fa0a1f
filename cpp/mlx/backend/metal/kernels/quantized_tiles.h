// What kernels share that multiply quantised rows by SIMD-group matrices.
#pragma once

#include "mlx/backend/metal/kernels/quantized_params.h"
#include "mlx/backend/metal/kernels/types.h"

constant constexpr uint kSide = 8;  // of a matrix
constant constexpr uint kRows = kFewVectorsRows;
constant constexpr uint kHigh = kRows / kSide;  // matrices above each other
constant constexpr uint kMostSimdgroups = kFewVectorsMostThreads / 32;

// Codes of `bits` bits as 16-bit floats: the fraction of a power of two holds the bits of a code,
// where they are in the word if possible, as each shift takes time. So `offset` is added to it.
// Floats subtract that again: with sums of 1024 times the elements in between, the error of a sum
// is still a tenth of what its rounding to half loses. Pair `i` of the codes in a word are those at
// i and i + kPairs.
template <typename T, uint bits>
struct Codes;
template <>
struct Codes<half, 4> {
  enum : uint { kPairs = 4 };
  static half2 pair(uint word, uint i) {
    const uint moved = i < 2 ? word : word >> 8;
    return as_type<half2>(i % 2 == 0 ? (moved & 0x000f000f) | 0x64006400
                                     : (moved & 0x00f000f0) | 0x54005400);
  }
  static half offset(uint i) { return i % 2 == 0 ? 1024.0h : 64.0h; }
};
template <>
struct Codes<bfloat16_t, 4> {
  enum : uint { kPairs = 4 };
  static vec<bfloat16_t, 2> pair(uint word, uint i) {
    return as_type<vec<bfloat16_t, 2>>((word >> (4 * i) & 0x000f000f) | 0x43004300);
  }
  static bfloat16_t offset(uint) { return bfloat16_t(128.0f); }
};
template <>
struct Codes<half, 8> {
  enum : uint { kPairs = 2 };
  static half2 pair(uint word, uint i) {
    return as_type<half2>((word >> (8 * i) & 0x00ff00ff) | 0x64006400);
  }
  static half offset(uint) { return 1024.0h; }
};
// The fraction has only seven bits, so the highest bit is added, and there is no offset.
template <>
struct Codes<bfloat16_t, 8> {
  enum : uint { kPairs = 2 };
  static vec<bfloat16_t, 2> pair(uint word, uint i) {
    const uint codes = word >> (8 * i);
    const uint highest = (codes >> 7 & 0x00010001) * 0x4300;
    const uint others = (codes & 0x007f007f) | 0x43004300;
    return as_type<vec<bfloat16_t, 2>>(others) - vec<bfloat16_t, 2>(bfloat16_t(128.0f)) +
           as_type<vec<bfloat16_t, 2>>(highest);
  }
  static bfloat16_t offset(uint) { return bfloat16_t(0.0f); }
};

// Products of the codes in some groups of rows with elements of vectors.
template <typename T, uint bits>
struct GroupProducts {
  using Code = Codes<T, bits>;
  using Matrix = simdgroup_matrix<T, 8, 8>;

  // Adds the products of pairs number `pair`; word(i) is the lane's one of the rows of matrix i.
  template <typename F>
  METAL_FUNC void add(const thread Matrix& elements, uint pair, F word) {
#pragma unroll
    for (uint i = 0; i < kHigh; ++i) {
      Matrix codes;
      codes.thread_elements() = Code::pair(word(i), pair);
      simdgroup_multiply_accumulate(of_codes[i], codes, elements, of_codes[i]);
    }
    // These are the same in all rows. One instruction computes both.
    const auto ones = make_filled_simdgroup_matrix<T, 8, 8>(T(1.0f));
    const auto offsets = make_filled_simdgroup_matrix<T, 8, 8>(Code::offset(pair));
    simdgroup_multiply_accumulate(of_ones, ones, elements, of_ones);
    if (Code::offset(0) != T(0.0f))
      simdgroup_multiply_accumulate(of_offsets, offsets, elements, of_offsets);
  }

  // Adds the sums for the quantised numbers to those of other groups.
  METAL_FUNC void add_to(thread float2& total, uint i, float2 scale, float2 bias) const {
    const float2 products = of_codes[i].thread_elements() - of_offsets.thread_elements();
    total = fma(bias, of_ones.thread_elements(), fma(scale, products, total));
  }

  simdgroup_float8x8 of_codes[kHigh] = {simdgroup_float8x8(0.0f), simdgroup_float8x8(0.0f)};
  simdgroup_float8x8 of_ones = simdgroup_float8x8(0.0f), of_offsets = simdgroup_float8x8(0.0f);
};
