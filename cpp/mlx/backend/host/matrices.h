// Batches of matrices to multiply, as libraries take them.
#pragma once

#include "mlx/array.h"
#include "mlx/stream.h"

namespace mlx::core::cpu {

// A batch of matrices whose rows or columns are contiguous.
struct Matrices {
  array source;
  bool transposed;
  int64_t leading;  // distance between rows (or columns, if transposed)
  Shape batch_shape;
  Strides batch_strides;
};

// Returns the array itself, or a copy that lives until the stream has used it.
Matrices readable_matrices(const array& a, Stream s);

// alpha * a @ b + beta * c: a is (m, k), b (k, n), c (m, n).
struct Product {
  int m, n, k;
  bool ta, tb;        // whether columns are contiguous instead of rows
  int lda, ldb, ldc;  // distances between rows, or columns of what is transposed
  double alpha, beta;

  double multiplications() const { return double(m) * n * k; }
  // Whether the product is too large for a single thread. For a vector, memory is the limit, not
  // arithmetic.
  bool is_large() const;
};

// A product for each element of a batch. The results are row-contiguous.
struct Products {
  Product one;
  Shape batch;
  Strides a_strides, b_strides;

  Products(const Matrices& a, const Matrices& b, double alpha, double beta);
};

// The most multiplications for which a single thread is fast enough.
constexpr double kLargeProduct = 1 << 21;
inline bool Product::is_large() const {
  return multiplications() >= (m == 1 || n == 1 ? kLargeProduct / 8 : kLargeProduct);
}

// out = alpha a b + beta out, for each element of a batch, in a type that a library multiplies.
void multiply(const array& a, const array& b, array& out, double alpha, double beta, Stream s);

// Products of bfloat16, with oneDNN.
void multiply_bfloat16(const Products& products, const array& a, const array& b, array& out,
                       Stream s);

}  // namespace mlx::core::cpu
