// Derivatives and vmap of products of matrices chosen by indices.
#pragma once

#include "mlx/primitives/primitive.h"

namespace mlx::core {

// The index pairs of such products: the left and the right matrix of each. They are flattened, and
// the indices count from 0.
class Pairs {
 public:
  array left;
  array right;

  Pairs(const array& lhs, const array& rhs, int left_count, int right_count, const Stream& s);

  // Flattens the axes of the pairs in the products, or in their cotangents.
  array in_a_line(const array& products) const;
  // 0, 1, 2, ...
  array own() const;
  // For each pair, its left matrix.
  array take_left(const array& matrices) const;
  array take_right(const array& matrices) const;
  // For each left matrix, the sum over its pairs.
  array sum_for_left(const array& parts) const;
  // For each right matrix, the sum of x.T @ y over its pairs; the pairs of x and y are flattened.
  array products_for_right(const array& x, const array& y) const;

 private:
  int left_count_;
  int right_count_;
  Stream stream_;
};

// Indices for matrices (count, ...), which become (n * count, ...) if they are `mapped`: then the
// mapped axis is in front.
array mapped_indices(const array& indices, int axis, const array& matrices, bool mapped, int n,
                     const Stream& s);

}  // namespace mlx::core
