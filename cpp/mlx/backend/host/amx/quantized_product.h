// Products of many vectors with a matrix of quantised integers, without dequantising it in memory.
#pragma once

#include <cstdint>

#include "mlx/backend/host/working_memory.h"
#include "mlx/dtype.h"
#include "mlx/primitives/quantization.h"
#include "mlx/stream.h"

namespace mlx::core::cpu {

// A matrix in affine mode. Its rows are contiguous; the scales and biases are floats of one type.
struct QuantizedMatrix {
  int rows, columns;
  int bits, group_size;
  const uint32_t* words;
  const void* scales;
  const void* biases;
};

// Rows of a contiguous matrix: those with the given indices, or all from `first` on.
struct RowsAt {
  const int64_t* index = nullptr;
  int first = 0;

  int64_t operator[](int row) const { return index == nullptr ? first + row : index[first + row]; }
  RowsAt from(int row) const { return {index, first + row}; }
};

// Computes x @ w.T. x, the scales, the biases and the result have the same type.
class QuantizedProduct {
 public:
  // Whether this processor is good at products with such matrices.
  static bool is_supported(const Quantization& q, Dtype dtype);

  // Constructed before the work is scheduled: it has memory for products of up to `rows` rows of x,
  // which lives until the stream has used it. `w` describes each of the matrices, whose addresses
  // may differ.
  QuantizedProduct(Dtype dtype, size_t rows, const QuantizedMatrix& w, Stream s);

  // Called by a task of the stream.
  void multiply(const void* x, RowsAt x_rows, int rows, const QuantizedMatrix& w, void* out,
                RowsAt out_rows) const;

 private:
  Dtype dtype_;
  char* packed_;
  ThreadsWithScratch threads_;
};

}  // namespace mlx::core::cpu
