// Systems of linear equations with LAPACK and BLAS.
#include <cblas.h>

#include <algorithm>
#include <vector>

#include "mlx/backend/host/blas.h"
#include "mlx/backend/host/matrix_batches.h"
#include "mlx/primitives/decompositions.h"

namespace mlx::core {

namespace {

// b = b a^-1, for a triangular a of n columns and b of `rows` rows with `pitch` between its
// columns, in column-major order.
void divide(CBLAS_UPLO triangle, CBLAS_DIAG diagonal, int rows, int n, const float* a, int lda,
            float* b, int pitch) {
  cblas_strsm(CblasColMajor, CblasRight, triangle, CblasNoTrans, diagonal, rows, n, 1, a, lda, b,
              pitch);
}

void divide(CBLAS_UPLO triangle, CBLAS_DIAG diagonal, int rows, int n, const double* a, int lda,
            double* b, int pitch) {
  cblas_dtrsm(CblasColMajor, CblasRight, triangle, CblasNoTrans, diagonal, rows, n, 1, a, lda, b,
              pitch);
}

void divide(CBLAS_UPLO triangle, CBLAS_DIAG diagonal, int rows, int n, const complex64_t* a,
            int lda, complex64_t* b, int pitch) {
  const complex64_t one(1);
  cblas_ctrsm(CblasColMajor, CblasRight, triangle, CblasNoTrans, diagonal, rows, n, &one, a, lda, b,
              pitch);
}

// The same, mostly by matrix products, which are several times faster than BLAS's own divisions.
template <typename T>
void divide_blocks(CBLAS_UPLO triangle, CBLAS_DIAG diagonal, int rows, int n, const T* a, int lda,
                   T* b, int pitch) {
  constexpr int kBlock = 32;
  if (n <= kBlock) return divide(triangle, diagonal, rows, n, a, lda, b, pitch);
  const int half = (n / 2 + kBlock - 1) / kBlock * kBlock, rest = n - half;
  const T* corner = a + int64_t(half) * (lda + 1);
  T* second = b + int64_t(half) * pitch;
  // gemm sees rows where `divide` sees columns.
  if (triangle == CblasUpper) {
    divide_blocks(triangle, diagonal, rows, half, a, lda, b, pitch);
    const cpu::Product product{rest, rows, half, false, false, lda, pitch, pitch, -1, 1};
    cpu::gemm(product, a + int64_t(half) * lda, b, second);
    divide_blocks(triangle, diagonal, rows, rest, corner, lda, second, pitch);
  } else {
    divide_blocks(triangle, diagonal, rows, rest, corner, lda, second, pitch);
    const cpu::Product product{half, rows, rest, false, false, lda, pitch, pitch, -1, 1};
    cpu::gemm(product, a + half, second, b);
    divide_blocks(triangle, diagonal, rows, half, a, lda, b, pitch);
  }
}

// Calls part(first column, columns) for parts of the k columns of the right-hand side, which the
// cores share.
template <typename Part>
void share_columns(int n, int k, Part&& part) {
  constexpr size_t kElementsPerPart = 16384;
  const cpu::BlasOnThisThread alone;
  const size_t grain = kElementsPerPart / static_cast<size_t>(std::max(n, 1)) + 1;
  cpu::parallel_for(static_cast<size_t>(k), grain, [&](size_t first, size_t last) {
    part(static_cast<int>(first), static_cast<int>(last - first));
  });
}

// What BLAS reads as columns are our rows: it sees the transposed matrices, and solves
// x^T a^T = b^T for x in place of b.

// With a^T = P L U, x = P (b^T U^-1 L^-1)^T.
template <typename T>
void solve_general(int n, int k, const T* a, T* b, const char* op) {
  std::vector<T> factors(a, a + size_t(n) * n);
  std::vector<int> pivots(static_cast<size_t>(n));
  lapack::check(lapack::getrf(n, n, factors.data(), pivots.data()), op, "The matrix is singular");
  share_columns(n, k, [&](int first, int columns) {
    divide_blocks(CblasUpper, CblasNonUnit, columns, n, factors.data(), n, b + first, k);
    divide_blocks(CblasLower, CblasUnit, columns, n, factors.data(), n, b + first, k);
    for (int i = n - 1; i >= 0; --i) {
      T* row = b + int64_t(i) * k + first;
      if (pivots[i] - 1 != i)
        std::swap_ranges(row, row + columns, b + int64_t(pivots[i] - 1) * k + first);
    }
  });
}

template <typename T>
void solve_triangular(int n, int k, const T* a, T* b, MatrixForm form, const char* op) {
  for (int i = 0; i < n; ++i)
    lapack::check(a[int64_t(i) * (n + 1)] == T(0) ? i + 1 : 0, op, "The matrix is singular");
  const CBLAS_UPLO triangle = form == MatrixForm::Lower ? CblasUpper : CblasLower;
  share_columns(n, k, [&](int first, int columns) {
    divide_blocks(triangle, CblasNonUnit, columns, n, a, n, b + first, k);
  });
}

template <typename T>
void solve(const array& a, const array& b, array& out, MatrixForm form, const char* op,
           const Stream& s) {
  const int n = b.shape(-2), k = b.shape(-1);
  lapack::for_each_matrix(
      b, s, [=, left = a.data<T>(), right = b.data<T>(), to = out.data<T>()](size_t i) {
        if (n == 0 || k == 0) return;
        const T* matrix = left + i * n * n;
        T* x = to + i * n * k;
        std::copy_n(right + i * n * k, int64_t(n) * k, x);
        if (form == MatrixForm::General) return solve_general(n, k, matrix, x, op);
        solve_triangular(n, k, matrix, x, form, op);
      });
}

}  // namespace

MLX_EVAL(Solve) {
  std::vector<array> outputs{out};
  lapack::decompose(op_, inputs, outputs, stream(), [&](auto type) {
    solve<decltype(type)>(row_contiguous(inputs[0], stream()), row_contiguous(inputs[1], stream()),
                          out, form_, op_, stream());
  });
}

}  // namespace mlx::core
