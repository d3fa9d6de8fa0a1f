// Batches of matrices to multiply, as libraries take them.
#include "mlx/backend/host/matrices.h"

#include <algorithm>

#include "mlx/backend/common/copy.h"
#include "mlx/backend/common/utils.h"

namespace mlx::core::cpu {

namespace {

Matrices described(const array& x, bool transposed) {
  const int rows = x.shape(-2), columns = x.shape(-1);
  // A single row or column may have any stride; libraries require a stride that is not shorter than
  // a row.
  int64_t leading = transposed ? x.strides(-1) : x.strides(-2);
  if ((transposed ? columns : rows) == 1) leading = transposed ? rows : columns;
  return {x, transposed, std::max<int64_t>(leading, 1),
          Shape(x.shape().begin(), x.shape().end() - 2),
          Strides(x.strides().begin(), x.strides().end() - 2)};
}

}  // namespace

Matrices readable_matrices(const array& a, Stream s) {
  const int64_t row = a.strides(-2), column = a.strides(-1);
  if ((column == 1 || a.shape(-1) == 1) && (row >= a.shape(-1) || a.shape(-2) == 1))
    return described(a, false);
  if ((row == 1 || a.shape(-2) == 1) && (column >= a.shape(-2) || a.shape(-1) == 1))
    return described(a, true);
  return described(contiguous_copy(a, s), false);
}

Products::Products(const Matrices& a, const Matrices& b, double alpha, double beta)
    : one{a.source.shape(-2),
          b.source.shape(-1),
          a.source.shape(-1),
          a.transposed,
          b.transposed,
          static_cast<int>(a.leading),
          static_cast<int>(b.leading),
          b.source.shape(-1),
          alpha,
          beta},
      batch(a.batch_shape),
      a_strides(a.batch_strides),
      b_strides(b.batch_strides) {
  // One right matrix for all left ones: their rows form one tall matrix.
  const bool shared =
      std::all_of(b_strides.begin(), b_strides.end(), [](int64_t stride) { return stride == 0; });
  if (!shared || a.transposed || batch.empty()) return;
  auto [shape, strides] = collapse_contiguous_dims(a.batch_shape, a.batch_strides);
  if (shape.size() == 1 && (strides[0] == a.leading * one.m || shape[0] == 1)) {
    one.m *= shape[0];
    batch = {};
  }
}

}  // namespace mlx::core::cpu
