// Matrix registers of x86 processors (AMX): eight tiles of 16 rows of 64 bytes.
#pragma once

namespace mlx::core::cpu {

// Whether this processor multiplies tiles of bfloat16 and the system allows it; then it also has
// the vector instructions of MLX_AMX. Reports the same for the whole life of the process.
bool has_amx();

}  // namespace mlx::core::cpu

#if defined(__x86_64__)

#include <cstddef>

// Marks a function that uses these instructions. Functions without the mark may not call it unless
// has_amx().
#define MLX_AMX                                                                      \
  __attribute__((                                                                    \
      target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512bf16," \
             "f16c,fma,amx-tile,amx-bf16")))

namespace mlx::core::cpu {

// Bytes in a row of a tile, rows, and what a tile holds.
constexpr int kTileRowBytes = 64, kTileRows = 16;
constexpr std::ptrdiff_t kTileFloats = 16 * kTileRows, kTileShorts = 32 * kTileRows;
// Two tiles of a factor.
constexpr std::ptrdiff_t kPairShorts = 2 * kTileShorts;

// All tiles of the calling thread are of full size until the end of the scope.
class AmxTiles {
 public:
  MLX_AMX AmxTiles();
  MLX_AMX ~AmxTiles();
  AmxTiles(const AmxTiles&) = delete;
  AmxTiles& operator=(const AmxTiles&) = delete;
};

}  // namespace mlx::core::cpu

#endif
