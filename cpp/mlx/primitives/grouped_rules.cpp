// Derivatives and vmap of products of matrices chosen by indices.
#include "mlx/primitives/grouped_rules.h"

#include "mlx/ops.h"
#include "mlx/primitives/rules.h"

namespace mlx::core {

namespace {

array from_zero(const array& indices, int count, const Stream& s) {
  return where(less(indices, array(0), s), add(indices, array(count), s), indices, s);
}

}  // namespace

Pairs::Pairs(const array& lhs, const array& rhs, int left_count, int right_count, const Stream& s)
    : left(from_zero(flatten(lhs, s), left_count, s)),
      right(from_zero(flatten(rhs, s), right_count, s)),
      left_count_(left_count),
      right_count_(right_count),
      stream_(s) {}

array Pairs::in_a_line(const array& products) const {
  return reshape(products, {static_cast<int>(left.size()), products.shape(-2), products.shape(-1)},
                 stream_);
}

array Pairs::own() const { return arange(static_cast<int>(left.size()), stream_); }

array Pairs::take_left(const array& matrices) const { return take(matrices, left, 0, stream_); }

array Pairs::take_right(const array& matrices) const { return take(matrices, right, 0, stream_); }

array Pairs::sum_for_left(const array& parts) const {
  array sums = zeros({left_count_, parts.shape(-2), parts.shape(-1)}, parts.dtype(), stream_);
  return scatter_add(sums, left, expand_dims(parts, 1, stream_), 0, stream_);
}

array Pairs::products_for_right(const array& x, const array& y) const {
  const Stream& s = stream_;
  // Sorts the pairs by their right matrix: the rows of each group form a segment.
  array order = argsort(right, 0, s);
  array rows_x = flatten(take(x, order, 0, s), 0, 1, s);
  array rows_y = flatten(take(y, order, 0, s), 0, 1, s);
  array numbers = expand_dims(arange(right_count_ + 1, s), 1, s);
  array before = sum(astype(less(expand_dims(right, 0, s), numbers, s), int32, s), 1, false, s);
  array ends = multiply(before, array(x.shape(-2)), s);
  array segments =
      stack({slice(ends, {0}, {right_count_}, s), slice(ends, {1}, {right_count_ + 1}, s)}, 1, s);
  return segmented_mm(swapaxes(rows_x, 0, 1, s), rows_y, segments, s);
}

array mapped_indices(const array& indices, int axis, const array& matrices, bool mapped, int n,
                     const Stream& s) {
  array repeated = axis_in_front_or_repeated(indices, axis, n, s);
  if (!mapped) return repeated;
  const int count = matrices.shape(1);
  Shape shape(repeated.ndim(), 1);
  shape[0] = n;
  array first = reshape(arange(0, n * count, count, s), shape, s);
  return add(from_zero(repeated, count, s), first, s);
}

}  // namespace mlx::core
