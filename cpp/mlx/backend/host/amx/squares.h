// Products on matrix registers are computed in squares of 2x2 tiles.
#pragma once

#include <algorithm>
#include <cstddef>

#include "mlx/backend/host/amx/tiles.h"
#include "mlx/backend/host/parallel.h"

#if defined(__x86_64__)

namespace mlx::core::cpu {

// Rows and columns of a square of results.
constexpr int kSquare = 2 * kTileRows;
// Columns of the left factor that one instruction multiplies.
constexpr std::ptrdiff_t kStep = 32;
constexpr std::ptrdiff_t kLanes16 = 16;  // floats in a vector

// Where 16 numbers of a row of a square are: the four tiles follow each other.
constexpr std::ptrdiff_t offset_in_square(int row, int half) {
  return kTileFloats * (row / kTileRows * 2 + half) + kLanes16 * (row % kTileRows);
}
constexpr int divided_up(int value, int unit) { return (value + unit - 1) / unit; }
constexpr int in_squares(int rows) { return divided_up(rows, kSquare) * kSquare; }

// A part of the product that a thread computes.
struct Part {
  int row, rows, column, columns;
};

// How a product is divided into parts: all have the same size but the last ones.
struct Division {
  int rows, columns;  // of the product
  int part_rows, part_columns;

  Division(int m, int n, int max_rows, int max_columns)
      : rows(m),
        columns(n),
        part_rows(in_squares(std::min(m, max_rows))),
        part_columns(in_squares(std::min(n, max_columns))) {
    constexpr int kMin = 64;
    const size_t wanted = 3 * parallel_width();
    while (count() < wanted && part_columns > kMin) part_columns = in_squares(part_columns / 2);
    while (count() < wanted && part_rows > kMin) part_rows = in_squares(part_rows / 2);
  }
  size_t down() const { return divided_up(rows, part_rows); }
  size_t across() const { return divided_up(columns, part_columns); }
  size_t count() const { return down() * across(); }
  Part part(size_t i) const {
    const int row = static_cast<int>(i % down()) * part_rows;
    const int column = static_cast<int>(i / down()) * part_columns;
    return {row, std::min(part_rows, rows - row), column, std::min(part_columns, columns - column)};
  }
};

}  // namespace mlx::core::cpu

#endif
