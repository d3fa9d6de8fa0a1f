// Where the elements of a thread are in a SIMD-group matrix, and threads among a GPU's lanes.
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

// A number for threads that copy 16 bytes each. NVIDIA GPUs assign threads to lanes such that their
// elements of matrices need not be exchanged, and access 128 bytes of eight lanes at once: eight
// neighbouring numbers belong to these.
METAL_FUNC uint number_of_copy(uint thread_number) {
  return (thread_number & ~14u) | (thread_number & 6) << 1 | (thread_number & 8) >> 2;
}
