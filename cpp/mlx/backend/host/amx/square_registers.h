// The eight tile registers while a square is computed: 0 to 3 have its sums, 4 and 5 two tiles of
// the left factor, 6 and 7 two tiles of the right one. Tiles that belong together follow each other
// in memory.
#pragma once

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstdint>

#include "mlx/backend/host/amx/tiles.h"

namespace mlx::core::cpu {

MLX_AMX inline void clear_sums() {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}

MLX_AMX inline void load_sums(const float* from) {
  _tile_loadd(0, from, kTileRowBytes);
  _tile_loadd(1, from + kTileFloats, kTileRowBytes);
  _tile_loadd(2, from + 2 * kTileFloats, kTileRowBytes);
  _tile_loadd(3, from + 3 * kTileFloats, kTileRowBytes);
}

MLX_AMX inline void store_sums(float* to) {
  _tile_stored(0, to, kTileRowBytes);
  _tile_stored(1, to + kTileFloats, kTileRowBytes);
  _tile_stored(2, to + 2 * kTileFloats, kTileRowBytes);
  _tile_stored(3, to + 3 * kTileFloats, kTileRowBytes);
}

MLX_AMX inline void load_left(const uint16_t* from) {
  _tile_loadd(4, from, kTileRowBytes);
  _tile_loadd(5, from + kTileShorts, kTileRowBytes);
}

MLX_AMX inline void load_right(const uint16_t* from) {
  _tile_loadd(6, from, kTileRowBytes);
  _tile_loadd(7, from + kTileShorts, kTileRowBytes);
}

// Adds the products of the loaded tiles to the sums.
MLX_AMX inline void multiply_loaded() {
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(1, 4, 7);
  _tile_dpbf16ps(2, 5, 6);
  _tile_dpbf16ps(3, 5, 7);
}

}  // namespace mlx::core::cpu

#endif
