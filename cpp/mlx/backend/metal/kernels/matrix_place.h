// Where the elements of a thread are in a SIMD-group matrix.
#pragma once

#include "mlx/backend/metal/kernels/types.h"

// The place of the first of a lane's two elements, which are neighbours in a row.
struct MatrixPlace {
  uint row, column;

  explicit MatrixPlace(uint lane) {
    const uint quad = lane / 4;
    row = (quad & 4) + lane / 2 % 4;
    column = (quad & 2) * 2 + lane % 2 * 2;
  }
};
