// Matrix products that a library of the device computes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace metal {

enum class MatrixType { Float32, Float16, Bfloat16, Complex64 };

// alpha a b + beta c for each element of a batch, written to c: a is (m, k), b is (k, n), and c is
// (m, n), row by row. Products of 16-bit floats are summed in float32. Distances count elements.
// `adds_row`: n elements of the same type are added to each row of the result.
struct MatrixProduct {
  struct Operand {
    bool transposed = false;  // columns are contiguous instead of rows
    int64_t leading = 1;      // distance between rows, or columns if it is transposed
    int64_t step = 0;         // distance between the matrices of the batch; 0 repeats one matrix
    uint32_t alignment = 1;   // bytes; the address of the first matrix is a multiple of it
  };

  MatrixType type = MatrixType::Float32;
  int64_t m = 1, n = 1, k = 1;
  int64_t batch = 1;
  Operand a, b, c;  // c is not transposed
  bool adds_row = false;
};

// How a library computes one kind of product.
class MatrixProductPlan {
 public:
  virtual ~MatrixProductPlan() = default;

  virtual size_t workspace_bytes() const = 0;
  // The work of a LibraryCall. Its buffers are a, b, c, workspace of that size, and the row to add.
  virtual void start(void* queue, void* const* buffers, double alpha, double beta) const = 0;
};

}  // namespace metal
