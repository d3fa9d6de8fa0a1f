// Decompositions of matrices: shapes, derivatives, vmap. The derivatives of Cholesky, QR and
// eigenvalue decompositions are those of Giles, "Collected matrix derivative results" (2008), and
// Seeger et al., "Auto-differentiating linear algebra" (2017), for complex numbers too.
#include "mlx/primitives/decompositions.h"

#include <algorithm>

#include "mlx/errors.h"
#include "mlx/linalg.h"
#include "mlx/ops.h"
#include "mlx/primitives/rules.h"

namespace mlx::core {

namespace {

array diagonals(const array& x, const Stream& s) { return diagonal(x, 0, -2, -1, s); }

// Matrices with the given diagonals.
array diagonal_matrices(const array& x, const Stream& s) {
  return multiply(expand_dims(x, -1, s), eye(x.shape(-1), x.dtype(), s), s);
}

// The lower triangle with half of the diagonal.
array lower_half(const array& x, const Stream& s) {
  return subtract(tril(x, 0, s), multiply(diagonal_matrices(diagonals(x, s), s), scalar(0.5, x), s),
                  s);
}

array hermitian_part(const array& x, const Stream& s) {
  return multiply(add(x, adjoint(x, s), s), scalar(0.5, x), s);
}

Shape joined(Shape batch, std::initializer_list<int> matrix) {
  batch.insert(batch.end(), matrix.begin(), matrix.end());
  return batch;
}

// The vmap rule of a decomposition, which accepts any batch axes: moves the mapped axis to the
// front.
VmapResult mapped(std::vector<array> outputs) {
  std::vector<int> axes(outputs.size(), 0);
  return {std::move(outputs), std::move(axes)};
}

template <typename Pair>
std::vector<array> list_of(Pair&& pair) {
  return {pair.first, pair.second};
}

}  // namespace

// ---- Solve ----

std::vector<Shape> Solve::output_shapes(const std::vector<array>& inputs) {
  return {inputs[1].shape()};
}

// a @ x = b, so a @ dx = db - da @ x.
std::vector<array> Solve::jvp(const std::vector<array>& primals, const std::vector<array>& tangents,
                              const std::vector<int>& argnums) {
  const Stream& s = stream();
  std::optional<array> right;
  for (size_t i = 0; i < argnums.size(); ++i) {
    if (argnums[i] == 1) {
      accumulate(right, tangents[i], s);
      continue;
    }
    array x(primals[1].shape(), primals[1].dtype(), std::make_shared<Solve>(s, form_, op_),
            primals);
    array change = form_ == MatrixForm::General ? tangents[i]
                   : form_ == MatrixForm::Upper ? triu(tangents[i], 0, s)
                                                : tril(tangents[i], 0, s);
    accumulate(right, negative(matmul(change, x, s), s), s);
  }
  return {array(right->shape(), right->dtype(), std::make_shared<Solve>(s, form_, op_),
                {primals[0], *right})};
}

std::vector<array> Solve::vjp(const std::vector<array>& primals,
                              const std::vector<array>& cotangents, const std::vector<int>& argnums,
                              const std::vector<array>& outputs) {
  const Stream& s = stream();
  const MatrixForm transposed = form_ == MatrixForm::General ? MatrixForm::General
                                : form_ == MatrixForm::Upper ? MatrixForm::Lower
                                                             : MatrixForm::Upper;
  array of_b(cotangents[0].shape(), cotangents[0].dtype(),
             std::make_shared<Solve>(s, transposed, op_), {adjoint(primals[0], s), cotangents[0]});
  std::vector<array> vjps;
  for (int arg : argnums) {
    if (arg == 1) {
      vjps.push_back(of_b);
      continue;
    }
    array of_a = negative(matmul(of_b, adjoint(outputs[0], s), s), s);
    vjps.push_back(form_ == MatrixForm::General ? of_a
                   : form_ == MatrixForm::Upper ? triu(of_a, 0, s)
                                                : tril(of_a, 0, s));
  }
  return vjps;
}

VmapResult Solve::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  const int n = mapped_length(inputs, axes);
  array a = axis_in_front_or_repeated(inputs[0], axes[0], n, stream());
  array b = axis_in_front_or_repeated(inputs[1], axes[1], n, stream());
  return {{array(b.shape(), b.dtype(), std::make_shared<Solve>(stream(), form_, op_), {a, b})},
          {0}};
}

// ---- Cholesky ----

std::vector<array> Cholesky::jvp(const std::vector<array>& primals,
                                 const std::vector<array>& tangents, const std::vector<int>&) {
  const Stream& s = stream();
  array factor = linalg::cholesky(primals[0], false, s);
  array left = linalg::solve_triangular(factor, hermitian_part(tangents[0], s), false, s);
  array both = adjoint(linalg::solve_triangular(factor, adjoint(left, s), false, s), s);
  array tangent = matmul(factor, lower_half(both, s), s);
  return {upper_ ? adjoint(tangent, s) : tangent};
}

std::vector<array> Cholesky::vjp(const std::vector<array>&, const std::vector<array>& cotangents,
                                 const std::vector<int>&, const std::vector<array>& outputs) {
  const Stream& s = stream();
  array factor = upper_ ? adjoint(outputs[0], s) : outputs[0];
  array cotangent = upper_ ? adjoint(cotangents[0], s) : cotangents[0];
  array inner = lower_half(matmul(adjoint(factor, s), cotangent, s), s);
  // factor^-H @ inner @ factor^-1
  array left = linalg::solve_triangular(adjoint(factor, s), inner, true, s);
  array both = adjoint(linalg::solve_triangular(adjoint(factor, s), adjoint(left, s), true, s), s);
  return {hermitian_part(both, s)};
}

VmapResult Cholesky::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  return {{linalg::cholesky(axis_in_front(inputs[0], axes[0], stream()), upper_, stream())}, {0}};
}

// ---- QRF ----

std::vector<Shape> QRF::output_shapes(const std::vector<array>& inputs) {
  const int m = inputs[0].shape(-2), n = inputs[0].shape(-1), k = std::min(m, n);
  return {joined(batch_of(inputs[0]), {m, k}), joined(batch_of(inputs[0]), {k, n})};
}

namespace {

void check_tall(const array& a) {
  if (a.shape(-2) < a.shape(-1)) {
    invalid_argument("linalg::qr",
                     message("The decomposition has derivatives where matrices have no more "
                             "columns than rows, but their shape is ",
                             a.shape(), "."));
  }
}

}  // namespace

std::vector<array> QRF::jvp(const std::vector<array>& primals, const std::vector<array>& tangents,
                            const std::vector<int>&) {
  check_tall(primals[0]);
  const Stream& s = stream();
  auto [q, r] = linalg::qr(primals[0], s);
  // tangent @ r^-1
  array relative =
      adjoint(linalg::solve_triangular(adjoint(r, s), adjoint(tangents[0], s), false, s), s);
  array inner = matmul(adjoint(q, s), relative, s);
  array below = tril(inner, -1, s);
  array rotation = subtract(below, adjoint(below, s), s);
  if (inner.dtype() == complex64) {  // the diagonal of R stays real
    array half = multiply(subtract(inner, adjoint(inner, s), s), scalar(0.5, inner), s);
    rotation = add(rotation, diagonal_matrices(diagonals(half, s), s), s);
  }
  array of_q = add(matmul(q, subtract(rotation, inner, s), s), relative, s);
  return {of_q, matmul(subtract(inner, rotation, s), r, s)};
}

std::vector<array> QRF::vjp(const std::vector<array>& primals, const std::vector<array>& cotangents,
                            const std::vector<int>&, const std::vector<array>& outputs) {
  check_tall(primals[0]);
  const Stream& s = stream();
  const array &q = outputs[0], &r = outputs[1];
  array inner =
      subtract(matmul(r, adjoint(cotangents[1], s), s), matmul(adjoint(cotangents[0], s), q, s), s);
  array below = tril(inner, -1, s);
  array diagonal_part = diagonal_matrices(diagonals(hermitian_part(inner, s), s), s);
  array symmetric = add(add(below, adjoint(below, s), s), diagonal_part, s);
  array left = add(cotangents[0], matmul(q, symmetric, s), s);
  // left @ r^-H
  return {adjoint(linalg::solve_triangular(r, adjoint(left, s), true, s), s)};
}

VmapResult QRF::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  return mapped(list_of(linalg::qr(axis_in_front(inputs[0], axes[0], stream()), stream())));
}

// ---- LUF ----

std::vector<Shape> LUF::output_shapes(const std::vector<array>& inputs) {
  const array& a = inputs[0];
  return {a.shape(), joined(batch_of(a), {std::min(a.shape(-2), a.shape(-1))}),
          joined(batch_of(a), {a.shape(-2)})};
}

VmapResult LUF::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  array a = axis_in_front(inputs[0], axes[0], stream());
  auto primitive = std::make_shared<LUF>(stream());
  return mapped(array::make_arrays(primitive->output_shapes({a}), {a.dtype(), uint32, uint32},
                                   primitive, {a}));
}

// ---- Determinant ----

std::vector<Shape> Determinant::output_shapes(const std::vector<array>& inputs) {
  return std::vector<Shape>(logarithm_ ? 2 : 1, batch_of(inputs[0]));
}

namespace {

void check_real_logarithm(const array& a, bool logarithm) {
  if (logarithm && a.dtype() == complex64) {
    invalid_argument("linalg::slogdet", "Complex matrices have no derivatives here.");
  }
}

}  // namespace

// d det(a) = det(a) * trace(a^-1 @ da)
std::vector<array> Determinant::jvp(const std::vector<array>& primals,
                                    const std::vector<array>& tangents, const std::vector<int>&) {
  const Stream& s = stream();
  check_real_logarithm(primals[0], logarithm_);
  array relative = sum(diagonals(linalg::solve(primals[0], tangents[0], s), s), -1, false, s);
  if (logarithm_) return {zeros_like(relative, s), relative};
  return {multiply(linalg::det(primals[0], s), relative, s)};
}

std::vector<array> Determinant::vjp(const std::vector<array>& primals,
                                    const std::vector<array>& cotangents, const std::vector<int>&,
                                    const std::vector<array>& outputs) {
  const Stream& s = stream();
  check_real_logarithm(primals[0], logarithm_);
  array factor = logarithm_ ? cotangents[1] : multiply(cotangents[0], conjugate(outputs[0], s), s);
  array inverse = adjoint(linalg::inv(primals[0], s), s);
  return {multiply(expand_dims(factor, {-2, -1}, s), inverse, s)};
}

VmapResult Determinant::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  array a = axis_in_front(inputs[0], axes[0], stream());
  if (!logarithm_) return mapped({linalg::det(a, stream())});
  return mapped(list_of(linalg::slogdet(a, stream())));
}

// ---- Eigh ----

std::vector<Shape> Eigh::output_shapes(const std::vector<array>& inputs) {
  const array& a = inputs[0];
  const Shape values = joined(batch_of(a), {a.shape(-1)});
  return vectors_ ? std::vector<Shape>{values, a.shape()} : std::vector<Shape>{values};
}

namespace {

// 1 / (w_j - w_i), and 0 on the diagonal.
array reciprocal_differences(const array& w, Dtype type, const Stream& s) {
  array differences = subtract(expand_dims(w, -2, s), expand_dims(w, -1, s), s);
  array on_diagonal = eye(w.shape(-1), w.dtype(), s);
  return astype(subtract(reciprocal(add(differences, on_diagonal, s), s), on_diagonal, s), type, s);
}

}  // namespace

std::vector<array> Eigh::jvp(const std::vector<array>& primals, const std::vector<array>& tangents,
                             const std::vector<int>&) {
  const Stream& s = stream();
  auto [w, v] = linalg::eigh(primals[0], upper_ ? "U" : "L", s);
  array inner = matmul(adjoint(v, s), matmul(hermitian_part(tangents[0], s), v, s), s);
  array of_values = diagonals(inner, s);
  if (of_values.dtype() == complex64) of_values = real(of_values, s);
  if (!vectors_) return {of_values};
  array mixed = multiply(reciprocal_differences(w, v.dtype(), s), inner, s);
  return {of_values, matmul(v, mixed, s)};
}

std::vector<array> Eigh::vjp(const std::vector<array>& primals,
                             const std::vector<array>& cotangents, const std::vector<int>&,
                             const std::vector<array>& outputs) {
  const Stream& s = stream();
  const array& w = outputs[0];
  array v = vectors_ ? outputs[1] : linalg::eigh(primals[0], upper_ ? "U" : "L", s).second;
  array inner = diagonal_matrices(astype(cotangents[0], v.dtype(), s), s);
  if (vectors_) {
    array mixed = matmul(adjoint(v, s), cotangents[1], s);
    inner = add(inner, multiply(reciprocal_differences(w, v.dtype(), s), mixed, s), s);
  }
  return {hermitian_part(matmul(v, matmul(inner, adjoint(v, s), s), s), s)};
}

VmapResult Eigh::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  array a = axis_in_front(inputs[0], axes[0], stream());
  const char* triangle = upper_ ? "U" : "L";
  if (!vectors_) return mapped({linalg::eigvalsh(a, triangle, stream())});
  return mapped(list_of(linalg::eigh(a, triangle, stream())));
}

// ---- Eig ----

std::vector<Shape> Eig::output_shapes(const std::vector<array>& inputs) {
  const array& a = inputs[0];
  const Shape values = joined(batch_of(a), {a.shape(-1)});
  return vectors_ ? std::vector<Shape>{values, a.shape()} : std::vector<Shape>{values};
}

VmapResult Eig::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  array a = axis_in_front(inputs[0], axes[0], stream());
  if (!vectors_) return mapped({linalg::eigvals(a, stream())});
  return mapped(list_of(linalg::eig(a, stream())));
}

// ---- SVD ----

std::vector<Shape> SVD::output_shapes(const std::vector<array>& inputs) {
  const int m = inputs[0].shape(-2), n = inputs[0].shape(-1);
  const Shape batch = batch_of(inputs[0]), values = joined(batch, {std::min(m, n)});
  if (!compute_uv_) return {values};
  return {joined(batch, {m, m}), values, joined(batch, {n, n})};
}

namespace {

void check_values_only(bool compute_uv) {
  if (compute_uv) {
    invalid_argument("linalg::svd",
                     "The singular vectors have no derivatives; with compute_uv=False the singular "
                     "values have.");
  }
}

// U and Vt without the vectors that belong to no singular value.
std::pair<array, array> singular_vectors(const array& a, const Stream& s) {
  auto parts = linalg::svd(a, true, s);
  array first = arange(std::min(a.shape(-2), a.shape(-1)), s);
  return {take(parts[0], first, -1, s), take(parts[2], first, -2, s)};
}

}  // namespace

std::vector<array> SVD::jvp(const std::vector<array>& primals, const std::vector<array>& tangents,
                            const std::vector<int>&) {
  check_values_only(compute_uv_);
  const Stream& s = stream();
  auto [u, vt] = singular_vectors(primals[0], s);
  array inner = matmul(adjoint(u, s), matmul(tangents[0], adjoint(vt, s), s), s);
  array of_values = diagonals(inner, s);
  return {of_values.dtype() == complex64 ? real(of_values, s) : of_values};
}

std::vector<array> SVD::vjp(const std::vector<array>& primals, const std::vector<array>& cotangents,
                            const std::vector<int>&, const std::vector<array>&) {
  check_values_only(compute_uv_);
  const Stream& s = stream();
  auto [u, vt] = singular_vectors(primals[0], s);
  return {matmul(multiply(u, expand_dims(cotangents[0], -2, s), s), vt, s)};
}

VmapResult SVD::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  return mapped(linalg::svd(axis_in_front(inputs[0], axes[0], stream()), compute_uv_, stream()));
}

}  // namespace mlx::core
