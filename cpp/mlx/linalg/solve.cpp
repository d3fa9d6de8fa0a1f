// Systems of linear equations, and inverses.
#include "mlx/errors.h"
#include "mlx/linalg.h"
#include "mlx/linalg/checks.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"
#include "mlx/primitives/decompositions.h"

namespace mlx::core::linalg {

namespace {

// The matrices must have equal batch axes and types.
array solve_batches(const array& a, const array& b, MatrixForm form, const char* op,
                    const Stream& s) {
  return array(b.shape(), b.dtype(), std::make_shared<Solve>(s, form, op), {a, b});
}

// The shape `batch`, then the last two axes of `a`.
array with_batch(const array& a, Shape batch, const Stream& s) {
  batch.insert(batch.end(), a.shape().end() - 2, a.shape().end());
  return broadcast_to(a, batch, s);
}

array solve(const array& a, const array& b, MatrixForm form, const char* op, StreamOrDevice s) {
  const Stream stream = to_stream(s);
  check_square(a, op);
  const bool is_vector = b.ndim() == 1;
  if (b.ndim() == 0 || b.shape(is_vector ? 0 : -2) != a.shape(-1)) {
    invalid_argument(
        op, message("b must be a vector or matrices with ", a.shape(-1), " rows for a of shape ",
                    a.shape(), ", but has shape ", b.shape(), "."));
  }
  const Dtype type = promote_types(a.dtype(), b.dtype());
  array left = astype(a, type, stream), right = astype(b, type, stream);
  check_type(right, op);
  if (is_vector) right = expand_dims(right, -1, stream);
  const Shape batch = broadcast_shapes(batch_of(left), batch_of(right));
  array x = solve_batches(with_batch(left, batch, stream), with_batch(right, batch, stream), form,
                          op, stream);
  return is_vector ? squeeze(x, -1, stream) : x;
}

array inverse(const array& a, MatrixForm form, const char* op, StreamOrDevice s) {
  const Stream stream = to_stream(s);
  check_square(a, op);
  array ones = broadcast_to(eye(a.shape(-1), a.dtype(), stream), a.shape(), stream);
  return solve_batches(a, ones, form, op, stream);
}

MatrixForm triangle(bool upper) { return upper ? MatrixForm::Upper : MatrixForm::Lower; }

}  // namespace

array solve(const array& a, const array& b, StreamOrDevice s) {
  return solve(a, b, MatrixForm::General, "linalg::solve", s);
}

array solve_triangular(const array& a, const array& b, bool upper, StreamOrDevice s) {
  return solve(a, b, triangle(upper), "linalg::solve_triangular", s);
}

array inv(const array& a, StreamOrDevice s) {
  return inverse(a, MatrixForm::General, "linalg::inv", s);
}

array tri_inv(const array& a, bool upper, StreamOrDevice s) {
  return inverse(a, triangle(upper), "linalg::tri_inv", s);
}

}  // namespace mlx::core::linalg
