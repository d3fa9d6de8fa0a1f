// The pieces of a product of floats with quantised integers on matrix registers: packing both
// factors into tiles, and multiplying squares of 2x2 tiles.
#pragma once

#if defined(__x86_64__)

#include <cstdint>

#include "mlx/backend/host/amx/quantized_product.h"
#include "mlx/backend/host/amx/squares.h"
#include "mlx/backend/host/amx/vectors.h"

namespace mlx::core::cpu {

// Columns of x and w that are multiplied at a time: some groups.
constexpr int kBlock = 256;
constexpr int kMaxGroups = kBlock / 32;

// Whether w is multiplied as integers, which are scaled afterwards. Otherwise it is dequantised to
// bfloat16 before, which is faster.
template <typename T>
constexpr bool kMultipliesIntegers = kPieces<T> > 1;

// ---- packed rows of x ----

// For each square of rows, each block and each step: two tiles of the first piece, two of the
// second and so on. Behind them, the sums of the groups of each row.
struct PackedRows {
  int rows, columns, group_size, pieces;
  uint16_t* tiles;
  float* sums;

  PackedRows(void* memory, int rows, int columns, int group_size, int pieces);
  static size_t bytes(int rows, int columns, int group_size, int pieces);

  int groups() const { return columns / group_size; }
  uint16_t* tiles_at(int row, int column) const;
  float* sums_at(int row, int column) const {
    return sums + static_cast<int64_t>(row) * groups() + column / group_size;
  }
};

// Packs a block of a square of rows, which starts at `row`; rows that are null are zeros.
template <typename T>
MLX_AMX void pack_rows(const T* const (&from)[kSquare], int row, int column, const PackedRows& to);

// ---- unpacked columns of w ----

// A block of some rows of w. The number of rows is rounded up to whole squares.
struct UnpackedRows {
  uint16_t* tiles;  // for each square of rows and each step, two tiles
  float* scales;    // for each square of rows and each group, those of the square
  float* offsets;   // bias + c scale likewise, or the bias

  UnpackedRows(void* memory, int rows);
  static size_t bytes(int rows);

  uint16_t* tiles_at(int row) const { return tiles + int64_t{row} * kBlock; }
  float* scales_at(int row) const { return scales + int64_t{row} * kMaxGroups; }
  float* offsets_at(int row) const { return offsets + int64_t{row} * kMaxGroups; }
};

template <typename T>
MLX_AMX void unpack_rows(const QuantizedMatrix& w, int row, int rows, int column,
                         const UnpackedRows& to);

// ---- products ----

// Adds the product of a block to a square of sums. The calling thread has AmxTiles.
MLX_AMX void multiply_square(const PackedRows& x, int row, const UnpackedRows& w, int w_row,
                             int column, float* sums);

// Stores the upper left corner of a square of sums.
template <typename T>
MLX_AMX void store_square(const float* sums, T* const (&rows)[kSquare], int columns);

}  // namespace mlx::core::cpu

#endif
