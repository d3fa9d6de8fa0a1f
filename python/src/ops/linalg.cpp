// mlx.core.linalg.
#include "mlx/linalg.h"

#include "convert/arguments.h"
#include "module.h"

using namespace pybind11::literals;

namespace {

const char* const kNormDoc =
    R"(norm(a: array, /, ord: None | int | float | str = None, axis: None | int | list[int] = None, keepdims: bool = False, *, stream: StreamOrDevice = None) -> array

Computes norms of vectors or of matrices.

Args:
    a: The array. Integers are converted to float32.
    ord: The order, as NumPy has it. Vectors: a number, where inf and -inf are the largest and the
        smallest absolute value, and 0 counts what is not zero. Matrices: 1, -1, 2, -2, inf, -inf,
        "fro" or "nuc". None means the root of the sum of the squares.
    axis: One axis, of vectors, or two, of matrices. None means the whole array: as one vector if
        `ord` is None, else it must have one or two dimensions.
    keepdims: Whether the axes stay, with length 1.

Returns:
    The norms, of a real type.

Example:
    >>> mx.linalg.norm(mx.array([3.0, 4.0]))
    array(5, dtype=float32))";

const char* const kQrDoc =
    R"(qr(a: array, *, stream: StreamOrDevice = None) -> tuple[array, array]

Computes the QR decomposition of matrices: `a = Q @ R`.

Args:
    a: The matrices, of shape (..., m, n), float32, float64 or complex64.

Returns:
    Q of shape (..., m, min(m, n)), whose columns are orthonormal, and R of shape
    (..., min(m, n), n), an upper triangle.)";

const char* const kSvdDoc =
    R"(svd(a: array, compute_uv: bool = True, *, stream: StreamOrDevice = None) -> tuple[array, array, array]

Computes the singular value decomposition of matrices: `a = (U * S) @ Vt`.

Args:
    a: The matrices, of shape (..., n, m), float32, float64 or complex64.
    compute_uv: Whether U and Vt are computed too.

Returns:
    U of shape (..., n, n), S of shape (..., min(n, m)) and Vt of shape (..., m, m); S alone if
    `compute_uv` is False.)";

const char* const kInvDoc = R"(inv(a: array, *, stream: StreamOrDevice = None) -> array

Computes the inverses of square matrices.

Args:
    a: The matrices, of shape (..., n, n), float32, float64 or complex64.

Returns:
    The inverses, of the same shape. A singular matrix is an error when the result is evaluated.)";

const char* const kTriInvDoc =
    R"(tri_inv(a: array, upper: bool = False, *, stream: StreamOrDevice = None) -> array

Computes the inverses of triangular matrices.

Args:
    a: The matrices, of shape (..., n, n). The other triangle is not read.
    upper: Whether the upper triangle counts, not the lower one.

Returns:
    The inverses, of the same shape.)";

const char* const kPinvDoc = R"(pinv(a: array, *, stream: StreamOrDevice = None) -> array

Computes the Moore-Penrose inverses of matrices, by their singular values.

Args:
    a: The matrices, of shape (..., m, n).

Returns:
    The inverses, of shape (..., n, m). Singular values below 10 * max(m, n) * eps times the largest
    count as zero.)";

const char* const kCholeskyDoc =
    R"(cholesky(a: array, upper: bool = False, *, stream: StreamOrDevice = None) -> array

Computes the Cholesky decomposition of positive definite matrices: `a = L @ L.T`.

Args:
    a: The symmetric (or Hermitian) matrices, of shape (..., n, n). One triangle is read.
    upper: Whether the upper triangle is read and U with `a = U.T @ U` is returned.

Returns:
    L or U, of the same shape. A matrix that is not positive definite is an error when the result is
    evaluated.)";

const char* const kCholeskyInvDoc =
    R"(cholesky_inv(a: array, upper: bool = False, *, stream: StreamOrDevice = None) -> array

Computes the inverses of matrices from their Cholesky factors.

Args:
    a: The factors, of shape (..., n, n), as `cholesky` gives them.
    upper: Whether they are upper triangles.

Returns:
    The inverses of `L @ L.T` or `U.T @ U`, of the same shape.)";

const char* const kLuDoc =
    R"(lu(a: array, *, stream: StreamOrDevice = None) -> tuple[array, array, array]

Computes the LU decomposition of matrices, with exchanges of rows: `a = L[P, :] @ U`.

Args:
    a: The matrices, of shape (..., m, n).

Returns:
    P (uint32, of shape (..., m)), L (..., m, min(m, n)) with ones on the diagonal, and
    U (..., min(m, n), n).)";

const char* const kLuFactorDoc =
    R"(lu_factor(a: array, *, stream: StreamOrDevice = None) -> tuple[array, array]

Computes the LU decomposition of matrices in the form that LAPACK has.

Args:
    a: The matrices, of shape (..., m, n).

Returns:
    L below the diagonal and U on and above it, in one matrix of the shape of `a`; and the pivots
    (uint32, of shape (..., min(m, n))): which row each row was exchanged with.)";

const char* const kSolveDoc =
    R"(solve(a: array, b: array, *, stream: StreamOrDevice = None) -> array

Solves systems of linear equations: `a @ x = b`.

Args:
    a: The square matrices, of shape (..., n, n).
    b: A vector of shape (n,), or matrices of shape (..., n, k).

Returns:
    x, of the shape of `b` with the batch axes of both. A singular matrix is an error when the
    result is evaluated.)";

const char* const kSolveTriangularDoc =
    R"(solve_triangular(a: array, b: array, *, upper: bool = False, stream: StreamOrDevice = None) -> array

Solves systems of linear equations with triangular matrices: `a @ x = b`.

Args:
    a: The matrices, of shape (..., n, n). The other triangle is not read.
    b: A vector of shape (n,), or matrices of shape (..., n, k).
    upper: Whether the upper triangle counts, not the lower one.

Returns:
    x, of the shape of `b` with the batch axes of both.)";

const char* const kDetDoc = R"(det(a: array, *, stream: StreamOrDevice = None) -> array

Computes the determinants of square matrices.

Args:
    a: The matrices, of shape (..., n, n).

Returns:
    The determinants, of shape (...) and of the matrices' type, float32 for integers.)";

const char* const kSlogdetDoc =
    R"(slogdet(a: array, *, stream: StreamOrDevice = None) -> tuple[array, array]

Computes the determinants of square matrices by sign and size.

Args:
    a: The matrices, of shape (..., n, n).

Returns:
    The signs (complex numbers of size 1 for complex matrices) and the logarithms of the absolute
    values, of shape (...). A singular matrix has sign 0 and logarithm -inf.)";

const char* const kEigDoc =
    R"(eig(a: array, *, stream: StreamOrDevice = None) -> tuple[array, array]

Computes the eigenvalues and eigenvectors of square matrices.

Args:
    a: The matrices, of shape (..., n, n).

Returns:
    The eigenvalues, complex64, of shape (..., n), in no particular order; and the eigenvectors, of
    length 1, in the columns of (..., n, n).)";

const char* const kEigvalsDoc = R"(eigvals(a: array, *, stream: StreamOrDevice = None) -> array

Computes the eigenvalues of square matrices.

Args:
    a: The matrices, of shape (..., n, n).

Returns:
    The eigenvalues, complex64, of shape (..., n), in no particular order.)";

const char* const kEighDoc =
    R"(eigh(a: array, UPLO: str = 'L', *, stream: StreamOrDevice = None) -> tuple[array, array]

Computes the eigenvalues and eigenvectors of symmetric or Hermitian matrices.

Args:
    a: The matrices, of shape (..., n, n).
    UPLO: Which triangle is read: "L", the lower one, or "U", the upper one.

Returns:
    The eigenvalues, ascending, of shape (..., n) and a real type; and the eigenvectors, of length 1,
    in the columns of (..., n, n).)";

const char* const kEigvalshDoc =
    R"(eigvalsh(a: array, UPLO: str = 'L', *, stream: StreamOrDevice = None) -> array

Computes the eigenvalues of symmetric or Hermitian matrices.

Args:
    a: The matrices, of shape (..., n, n).
    UPLO: Which triangle is read: "L", the lower one, or "U", the upper one.

Returns:
    The eigenvalues, ascending, of shape (..., n) and a real type.)";

const char* const kCrossDoc =
    R"(cross(a: array, b: array, axis: int = -1, *, stream: StreamOrDevice = None) -> array

Computes the cross products of vectors with three elements, or two: the third is then zero.

Args:
    a: The vectors.
    b: The other ones, which are broadcast with `a`.
    axis: The axis of the vectors.

Returns:
    The products. Where both have two elements, only the third element, without the axis.)";

using Matrices = mx::array (*)(const mx::array&, mx::StreamOrDevice);
using Pairs = std::pair<mx::array, mx::array> (*)(const mx::array&, mx::StreamOrDevice);
using OfTriangle = mx::array (*)(const mx::array&, bool, mx::StreamOrDevice);

py::tuple pair(const std::pair<mx::array, mx::array>& arrays) {
  return py::make_tuple(arrays.first, arrays.second);
}

void define(py::module_& m, const char* name, Matrices function, const char* doc) {
  m.def(
      name, [function](const mx::array& a, StreamArg s) { return function(a, s); }, "a"_a,
      py::kw_only(), "stream"_a = py::none(), doc);
}

void define(py::module_& m, const char* name, Pairs function, const char* doc) {
  m.def(
      name, [function](const mx::array& a, StreamArg s) { return pair(function(a, s)); }, "a"_a,
      py::kw_only(), "stream"_a = py::none(), doc);
}

void define(py::module_& m, const char* name, OfTriangle function, const char* doc) {
  m.def(
      name,
      [function](const mx::array& a, bool upper, StreamArg s) { return function(a, upper, s); },
      "a"_a, "upper"_a = false, py::kw_only(), "stream"_a = py::none(), doc);
}

mx::array norm(const mx::array& a, const py::object& ord, const Axes& axis, bool keepdims,
               mx::StreamOrDevice s) {
  if (ord.is_none()) return mx::linalg::norm(a, axis.value, keepdims, s);
  if (py::isinstance<py::str>(ord)) {
    return mx::linalg::norm(a, ord.cast<std::string>(), axis.value, keepdims, s);
  }
  if (PyNumber_Check(ord.ptr()) && !is_array(ord)) {
    return mx::linalg::norm(a, PyFloat_AsDouble(ord.ptr()), axis.value, keepdims, s);
  }
  throw py::type_error("[linalg::norm] ord must be None, a number or a string.");
}

void define_decompositions(py::module_& m) {
  define(m, "qr", &mx::linalg::qr, kQrDoc);
  m.def(
      "svd",
      [](const mx::array& a, bool compute_uv, StreamArg s) -> py::object {
        auto parts = mx::linalg::svd(a, compute_uv, s);
        if (!compute_uv) return py::cast(parts[0]);
        return to_tuple(parts);
      },
      "a"_a, "compute_uv"_a = true, py::kw_only(), "stream"_a = py::none(), kSvdDoc);
  define(m, "cholesky", &mx::linalg::cholesky, kCholeskyDoc);
  define(m, "cholesky_inv", &mx::linalg::cholesky_inv, kCholeskyInvDoc);
  m.def(
      "lu", [](const mx::array& a, StreamArg s) { return to_tuple(mx::linalg::lu(a, s)); }, "a"_a,
      py::kw_only(), "stream"_a = py::none(), kLuDoc);
  define(m, "lu_factor", &mx::linalg::lu_factor, kLuFactorDoc);
  define(m, "eig", &mx::linalg::eig, kEigDoc);
  define(m, "eigvals", &mx::linalg::eigvals, kEigvalsDoc);
  m.def(
      "eigh",
      [](const mx::array& a, const std::string& UPLO, StreamArg s) {
        return pair(mx::linalg::eigh(a, UPLO, s));
      },
      "a"_a, "UPLO"_a = "L", py::kw_only(), "stream"_a = py::none(), kEighDoc);
  m.def(
      "eigvalsh",
      [](const mx::array& a, const std::string& UPLO, StreamArg s) {
        return mx::linalg::eigvalsh(a, UPLO, s);
      },
      "a"_a, "UPLO"_a = "L", py::kw_only(), "stream"_a = py::none(), kEigvalshDoc);
}

void define_equations(py::module_& m) {
  define(m, "inv", &mx::linalg::inv, kInvDoc);
  define(m, "tri_inv", &mx::linalg::tri_inv, kTriInvDoc);
  define(m, "pinv", &mx::linalg::pinv, kPinvDoc);
  m.def(
      "solve",
      [](const mx::array& a, const mx::array& b, StreamArg s) {
        return mx::linalg::solve(a, b, s);
      },
      "a"_a, "b"_a, py::kw_only(), "stream"_a = py::none(), kSolveDoc);
  m.def(
      "solve_triangular",
      [](const mx::array& a, const mx::array& b, bool upper, StreamArg s) {
        return mx::linalg::solve_triangular(a, b, upper, s);
      },
      "a"_a, "b"_a, py::kw_only(), "upper"_a = false, "stream"_a = py::none(), kSolveTriangularDoc);
  define(m, "det", &mx::linalg::det, kDetDoc);
  define(m, "slogdet", &mx::linalg::slogdet, kSlogdetDoc);
}

void define_norm(py::module_& m, const char* name, const char* doc) {
  m.def(
      name,
      [](const mx::array& a, const py::object& ord, const Axes& axis, bool keepdims, StreamArg s) {
        return norm(a, ord, axis, keepdims, s);
      },
      "a"_a, py::pos_only(), "ord"_a = py::none(), "axis"_a = py::none(), "keepdims"_a = false,
      py::kw_only(), "stream"_a = py::none(), doc);
}

}  // namespace

void init_linalg(py::module_& parent) {
  py::module_ m = parent.def_submodule("linalg", "Linear algebra.");
  define_norm(m, "norm", kNormDoc);
  define_norm(parent, "matrix_norm", (std::string("matrix_") + kNormDoc).c_str());
  m.def(
      "cross",
      [](const mx::array& a, const mx::array& b, int axis, StreamArg s) {
        return mx::linalg::cross(a, b, axis, s);
      },
      "a"_a, "b"_a, "axis"_a = -1, py::kw_only(), "stream"_a = py::none(), kCrossDoc);
  define_decompositions(m);
  define_equations(m);
}
