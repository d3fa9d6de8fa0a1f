// Linear algebra over the last two axes of float32, float64 or complex64 arrays; the axes in front
// are batches. Products are in ops/linear.h.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "mlx/ops/common.h"

namespace mlx::core::linalg {

// Norms of vectors (one axis) or matrices (two axes). Without an axis: the norm of the flattened
// array, or, if `ord` is given, of the array as a vector or matrix. The orders are NumPy's.
array norm(const array& a, double ord, const std::optional<std::vector<int>>& axis = std::nullopt,
           bool keepdims = false, StreamOrDevice s = {});
array norm(const array& a, const std::string& ord,
           const std::optional<std::vector<int>>& axis = std::nullopt, bool keepdims = false,
           StreamOrDevice s = {});
array norm(const array& a, const std::optional<std::vector<int>>& axis = std::nullopt,
           bool keepdims = false, StreamOrDevice s = {});
inline array norm(const array& a, double ord, int axis, bool keepdims = false,
                  StreamOrDevice s = {}) {
  return norm(a, ord, std::vector<int>{axis}, keepdims, s);
}
inline array norm(const array& a, const std::string& ord, int axis, bool keepdims = false,
                  StreamOrDevice s = {}) {
  return norm(a, ord, std::vector<int>{axis}, keepdims, s);
}
inline array norm(const array& a, int axis, bool keepdims = false, StreamOrDevice s = {}) {
  return norm(a, std::vector<int>{axis}, keepdims, s);
}

// Q (..., M, K) with orthonormal columns and R (..., K, N), an upper triangle: a = Q @ R.
std::pair<array, array> qr(const array& a, StreamOrDevice s = {});

// Singular values of (..., M, N), with U (..., M, M) before and Vt (..., N, N) after them if
// compute_uv.
std::vector<array> svd(const array& a, bool compute_uv, StreamOrDevice s = {});
inline std::vector<array> svd(const array& a, StreamOrDevice s = {}) { return svd(a, true, s); }

array inv(const array& a, StreamOrDevice s = {});
array tri_inv(const array& a, bool upper = false, StreamOrDevice s = {});
// The pseudoinverse from the singular value decomposition, without negligible singular values.
array pinv(const array& a, StreamOrDevice s = {});

array cholesky(const array& a, bool upper = false, StreamOrDevice s = {});
// The inverse of a matrix, given its factor `a` from cholesky().
array cholesky_inv(const array& a, bool upper = false, StreamOrDevice s = {});

// The row of L @ U that each row of `a` is, then L and U.
std::vector<array> lu(const array& a, StreamOrDevice s = {});
// L and U in one matrix, and for each row the row that it was exchanged with.
std::pair<array, array> lu_factor(const array& a, StreamOrDevice s = {});

// x with a @ x = b, for a vector (M) or matrices (..., M, K).
array solve(const array& a, const array& b, StreamOrDevice s = {});
array solve_triangular(const array& a, const array& b, bool upper = false, StreamOrDevice s = {});

array det(const array& a, StreamOrDevice s = {});
// The determinant's sign, and the logarithm of its absolute value.
std::pair<array, array> slogdet(const array& a, StreamOrDevice s = {});

// Eigenvalues, complex64, and eigenvectors in columns.
std::pair<array, array> eig(const array& a, StreamOrDevice s = {});
array eigvals(const array& a, StreamOrDevice s = {});
// Of Hermitian matrices, by their lower or upper triangle ("L" or "U"): ascending real eigenvalues.
std::pair<array, array> eigh(const array& a, const std::string& UPLO = "L", StreamOrDevice s = {});
array eigvalsh(const array& a, const std::string& UPLO = "L", StreamOrDevice s = {});

// The cross product of vectors with two or three elements along an axis. Of two vectors with two
// elements, it is the third element only.
array cross(const array& a, const array& b, int axis = -1, StreamOrDevice s = {});

}  // namespace mlx::core::linalg
