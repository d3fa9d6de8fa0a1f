// What the rules of products share whose indices pick matrices.
#pragma once

#include "mlx/primitives/primitive.h"

namespace mlx::core {

// Pairs of indices of matrices: which of those on the left is multiplied with which of those on the
// right. All pairs in a line, with indices counted from 0.
class Pairs {
 public:
  array left;
  array right;

  Pairs(const array& lhs, const array& rhs, int left_count, int right_count, const Stream& s);

  // Products, or cotangents of them, with one axis for the pairs.
  array in_a_line(const array& products) const;
  // 0, 1, 2, ...
  array own() const;
  // Of each pair, the matrix on the left.
  array take_left(const array& matrices) const;
  array take_right(const array& matrices) const;
  // Sums over the pairs that have a matrix on the left.
  array sum_for_left(const array& parts) const;
  // For each matrix on the right, the sum of x.T @ y over its pairs, whose x and y are in a line.
  array products_for_right(const array& x, const array& y) const;

 private:
  int left_count_;
  int right_count_;
  Stream stream_;
};

// The indices for matrices (count, ...) that become (n * count, ...) if they are mapped: `mapped`
// has the mapped axis in front.
array mapped_indices(const array& indices, int axis, const array& matrices, bool mapped, int n,
                     const Stream& s);

}  // namespace mlx::core
