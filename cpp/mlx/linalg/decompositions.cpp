// Matrix decompositions, and functions that use them.
#include "mlx/primitives/decompositions.h"

#include "mlx/errors.h"
#include "mlx/linalg.h"
#include "mlx/linalg/checks.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"

namespace mlx::core::linalg {

namespace {

// A node whose outputs have the primitive's shapes and these types.
template <typename P>
std::vector<array> outputs_of(const std::shared_ptr<P>& primitive, const array& a,
                              const std::vector<Dtype>& types) {
  return array::make_arrays(primitive->output_shapes({a}), types, primitive, {a});
}

std::vector<array> luf(const array& a, const char* op, StreamOrDevice s) {
  check_matrices(a, op);
  return outputs_of(std::make_shared<LUF>(to_stream(s)), a, {a.dtype(), uint32, uint32});
}

bool is_upper(const std::string& triangle, const char* op) {
  const bool upper = triangle == "U" || triangle == "u";
  if (!upper && triangle != "L" && triangle != "l") {
    invalid_argument(op, "UPLO must be \"L\" or \"U\", not \"" + triangle + "\".");
  }
  return upper;
}

std::vector<array> hermitian_eigen(const array& a, const std::string& triangle, bool vectors,
                                   const char* op, StreamOrDevice s) {
  const bool upper = is_upper(triangle, op);
  check_square(a, op);
  std::vector<Dtype> types{real_type(a.dtype())};
  if (vectors) types.push_back(a.dtype());
  return outputs_of(std::make_shared<Eigh>(to_stream(s), upper, vectors), a, types);
}

std::vector<array> eigen(const array& a, bool vectors, const char* op, StreamOrDevice s) {
  check_square(a, op);
  return outputs_of(std::make_shared<Eig>(to_stream(s), vectors), a,
                    std::vector<Dtype>(vectors ? 2 : 1, complex64));
}

}  // namespace

std::pair<array, array> qr(const array& a, StreamOrDevice s) {
  check_matrices(a, "linalg::qr");
  auto parts = outputs_of(std::make_shared<QRF>(to_stream(s)), a, {a.dtype(), a.dtype()});
  return {parts[0], parts[1]};
}

std::vector<array> svd(const array& a, bool compute_uv, StreamOrDevice s) {
  check_matrices(a, "linalg::svd");
  std::vector<Dtype> types{real_type(a.dtype())};
  if (compute_uv) types = {a.dtype(), types[0], a.dtype()};
  return outputs_of(std::make_shared<SVD>(to_stream(s), compute_uv), a, types);
}

array pinv(const array& a, StreamOrDevice s) {
  check_matrices(a, "linalg::pinv");
  const int m = a.shape(-2), n = a.shape(-1), k = std::min(m, n);
  if (k == 0) return zeros(swapaxes(a, -1, -2, s).shape(), a.dtype(), s);
  auto parts = svd(a, true, s);
  array u = take(parts[0], arange(k, s), -1, s), vt = take(parts[2], arange(k, s), -2, s);
  const double smallest = 10.0 * std::max(m, n) * finfo(a.dtype()).eps;
  array cutoff = multiply(max(parts[1], -1, true, s), array(smallest, parts[1].dtype()), s);
  array inverse =
      where(greater(parts[1], cutoff, s), reciprocal(parts[1], s), array(0.0, parts[1].dtype()), s);
  return matmul(multiply(adjoint(vt, s), expand_dims(inverse, -2, s), s), adjoint(u, s), s);
}

array cholesky(const array& a, bool upper, StreamOrDevice s) {
  check_square(a, "linalg::cholesky");
  return array(a.shape(), a.dtype(), std::make_shared<Cholesky>(to_stream(s), upper), {a});
}

array cholesky_inv(const array& a, bool upper, StreamOrDevice s) {
  check_square(a, "linalg::cholesky_inv");
  array inverse = tri_inv(a, upper, s);
  return upper ? matmul(inverse, adjoint(inverse, s), s) : matmul(adjoint(inverse, s), inverse, s);
}

std::vector<array> lu(const array& a, StreamOrDevice s) {
  auto parts = luf(a, "linalg::lu", s);
  const int k = std::min(a.shape(-2), a.shape(-1));
  array first = arange(k, s);
  array lower =
      add(tril(take(parts[0], first, -1, s), -1, s), eye(a.shape(-2), k, 0, a.dtype(), s), s);
  return {parts[2], lower, triu(take(parts[0], first, -2, s), 0, s)};
}

std::pair<array, array> lu_factor(const array& a, StreamOrDevice s) {
  auto parts = luf(a, "linalg::lu_factor", s);
  return {parts[0], parts[1]};
}

namespace {

// Determinants of half precision and of integers are computed in float32.
array determinable(const array& a, const Stream& s) {
  const bool has_decomposition = issubdtype(a.dtype(), inexact) && a.dtype().size() >= 4;
  return has_decomposition ? a : astype(a, float32, s);
}

// Results for half precision are converted back to it.
Dtype determinant_type(const array& a) {
  return issubdtype(a.dtype(), inexact) ? a.dtype() : float32;
}

}  // namespace

array det(const array& a, StreamOrDevice s) {
  const Stream stream = to_stream(s);
  const array x = determinable(a, stream);
  check_square(x, "linalg::det");
  auto parts = outputs_of(std::make_shared<Determinant>(stream, false), x, {x.dtype()});
  return astype(parts[0], determinant_type(a), stream);
}

std::pair<array, array> slogdet(const array& a, StreamOrDevice s) {
  const Stream stream = to_stream(s);
  const array x = determinable(a, stream);
  check_square(x, "linalg::slogdet");
  auto parts =
      outputs_of(std::make_shared<Determinant>(stream, true), x, {x.dtype(), real_type(x.dtype())});
  const Dtype type = determinant_type(a);
  return {astype(parts[0], type, stream), astype(parts[1], real_type(type), stream)};
}

std::pair<array, array> eig(const array& a, StreamOrDevice s) {
  auto parts = eigen(a, true, "linalg::eig", s);
  return {parts[0], parts[1]};
}

array eigvals(const array& a, StreamOrDevice s) { return eigen(a, false, "linalg::eigvals", s)[0]; }

std::pair<array, array> eigh(const array& a, const std::string& UPLO, StreamOrDevice s) {
  auto parts = hermitian_eigen(a, UPLO, true, "linalg::eigh", s);
  return {parts[0], parts[1]};
}

array eigvalsh(const array& a, const std::string& UPLO, StreamOrDevice s) {
  return hermitian_eigen(a, UPLO, false, "linalg::eigvalsh", s)[0];
}

}  // namespace mlx::core::linalg
