// Vectors of 16 floats for the code of matrix registers.
#pragma once

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "mlx/backend/host/amx/tiles.h"
#include "mlx/types/half_types.h"

// GCC 12 takes the undefined vectors inside its own intrinsics for mistakes.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

namespace mlx::core::cpu {

constexpr __mmask16 kAll16 = 0xffff;

// The first lanes of 16; none if the number is negative.
MLX_AMX inline __mmask16 first_lanes(std::ptrdiff_t count) {
  return static_cast<__mmask16>((1u << std::clamp<std::ptrdiff_t>(count, 0, 16)) - 1);
}

MLX_AMX inline __m512 load_floats(const float* from, __mmask16 lanes = kAll16) {
  return _mm512_maskz_loadu_ps(lanes, from);
}
MLX_AMX inline __m512 load_floats(const float16_t* from, __mmask16 lanes = kAll16) {
  return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(lanes, from));
}
MLX_AMX inline __m512 load_floats(const bfloat16_t* from, __mmask16 lanes = kAll16) {
  const __m512i bits = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, from));
  return _mm512_castsi512_ps(_mm512_slli_epi32(bits, 16));
}

MLX_AMX inline void store_floats(float* to, __m512 x, __mmask16 lanes) {
  _mm512_mask_storeu_ps(to, lanes, x);
}
MLX_AMX inline void store_floats(float16_t* to, __m512 x, __mmask16 lanes) {
  _mm256_mask_storeu_epi16(to, lanes, _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
}
MLX_AMX inline void store_floats(bfloat16_t* to, __m512 x, __mmask16 lanes) {
  // The instruction takes subnormal numbers for zeros, so they are rounded by hand.
  const __m512i bits = _mm512_castps_si512(x);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
  const __m512i quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x400000));
  const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
  const __m512i chosen = _mm512_mask_mov_epi32(rounded, nan, quiet);
  _mm256_mask_storeu_epi16(to, lanes, _mm512_cvtepi32_epi16(_mm512_srli_epi32(chosen, 16)));
}

// The upper halves of 32 floats: they are bfloat16, rounded towards zero.
MLX_AMX inline __m512i upper_halves(__m512 low, __m512 high) {
  alignas(64) static constexpr uint16_t kOdd[32] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21,
                                                    23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43,
                                                    45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
  return _mm512_permutex2var_epi16(_mm512_castps_si512(low), _mm512_load_si512(kOdd),
                                   _mm512_castps_si512(high));
}

// The same in pairs: a half of x, then the half of y in the same lane.
MLX_AMX inline __m512i pairs_of_upper_halves(__m512 x, __m512 y) {
  return _mm512_mask_blend_epi16(0xaaaaaaaa, _mm512_srli_epi32(_mm512_castps_si512(x), 16),
                                 _mm512_castps_si512(y));
}

// How many bfloat16 a float of this type is the sum of.
template <typename T>
constexpr int kPieces = sizeof(T) == sizeof(float) ? 3 : 2;
template <>
inline constexpr int kPieces<bfloat16_t> = 1;

// Transposes a square of 16 x 16 words.
MLX_AMX inline void transpose(__m512i (&v)[16]) {
  __m512i t[16];
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(v[i], v[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(v[i], v[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    v[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    v[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    v[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    v[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
  // Now v[4a + b] has, in its quarter c, the words 4c + b of the rows 4a to 4a + 3.
  for (int b = 0; b < 4; ++b) {
    t[b] = _mm512_shuffle_i32x4(v[b], v[4 + b], 0x88);      // quarters 0, 2
    t[4 + b] = _mm512_shuffle_i32x4(v[b], v[4 + b], 0xdd);  // quarters 1, 3
    t[8 + b] = _mm512_shuffle_i32x4(v[8 + b], v[12 + b], 0x88);
    t[12 + b] = _mm512_shuffle_i32x4(v[8 + b], v[12 + b], 0xdd);
  }
  for (int b = 0; b < 4; ++b) {
    v[b] = _mm512_shuffle_i32x4(t[b], t[8 + b], 0x88);
    v[8 + b] = _mm512_shuffle_i32x4(t[b], t[8 + b], 0xdd);
    v[4 + b] = _mm512_shuffle_i32x4(t[4 + b], t[12 + b], 0x88);
    v[12 + b] = _mm512_shuffle_i32x4(t[4 + b], t[12 + b], 0xdd);
  }
}

}  // namespace mlx::core::cpu

#endif
