// Decompositions of matrices with LAPACK.
#include "mlx/primitives/decompositions.h"

#include <algorithm>
#include <numeric>

#include "mlx/backend/host/lapack.h"
#include "mlx/backend/host/matrix_batches.h"

namespace mlx::core {

using lapack::check;
using lapack::decompose;
using lapack::for_each_matrix;

namespace {

template <typename T>
struct RealOf {
  using type = T;
};
template <>
struct RealOf<complex64_t> {
  using type = float;
};

float conjugate_of(float x) { return x; }
double conjugate_of(double x) { return x; }
complex64_t conjugate_of(complex64_t x) { return std::conj(x); }

// Transposes: from row-major to column-major order. Goes through blocks, whose rows stay in the
// first-level cache.
template <typename T>
void transpose(const T* from, int rows, int columns, T* to) {
  constexpr int kBlock = 16;
  for (int row = 0; row < rows; row += kBlock) {
    for (int column = 0; column < columns; column += kBlock) {
      for (int j = column; j < std::min(column + kBlock, columns); ++j) {
        for (int i = row; i < std::min(row + kBlock, rows); ++i)
          to[int64_t(j) * rows + i] = from[int64_t(i) * columns + j];
      }
    }
  }
}

template <typename T>
void identity(int n, T* out) {
  std::fill_n(out, int64_t(n) * n, T(0));
  for (int i = 0; i < n; ++i) out[int64_t(i) * (n + 1)] = T(1);
}

// LAPACK reads our rows as columns and decomposes the transpose: its left singular vectors are our
// right ones.
template <typename T>
void svd(const array& in, std::vector<array>& outputs, bool vectors, const Stream& s) {
  using Real = typename RealOf<T>::type;
  const int m = in.shape(-2), n = in.shape(-1), k = std::min(m, n);
  T* u = vectors ? outputs[0].data<T>() : nullptr;
  Real* values = outputs[vectors ? 1 : 0].data<Real>();
  T* vt = vectors ? outputs[2].data<T>() : nullptr;
  for_each_matrix(in, s, [=, from = in.data<T>()](size_t i) {
    const size_t size = size_t(m) * n;
    std::vector<T> matrix(from + i * size, from + (i + 1) * size);
    T unused;
    T* left = vectors ? vt + i * n * n : &unused;
    T* right = vectors ? u + i * m * m : &unused;
    check(lapack::gesdd(vectors ? 'A' : 'N', n, m, matrix.data(), values + i * k, left, right),
          "linalg::svd", "The decomposition failed");
    if (k > 0 || !vectors) return;
    identity(n, left);
    identity(m, right);
  });
}

template <typename T>
void qr(const array& in, std::vector<array>& outputs, const Stream& s) {
  const int m = in.shape(-2), n = in.shape(-1), k = std::min(m, n);
  for_each_matrix(
      in, s,
      [=, from = in.data<T>(), q = outputs[0].data<T>(), r = outputs[1].data<T>()](size_t i) {
        std::vector<T> matrix(size_t(m) * n), factors(static_cast<size_t>(k));
        transpose(from + i * matrix.size(), m, n, matrix.data());
        check(lapack::geqrf(m, n, matrix.data(), factors.data()), "linalg::qr",
              "The decomposition failed");
        T* upper = r + i * k * n;
        for (int row = 0; row < k; ++row) {
          for (int column = 0; column < n; ++column)
            upper[row * n + column] = column < row ? T(0) : matrix[size_t(column) * m + row];
        }
        check(lapack::orgqr(m, k, matrix.data(), factors.data()), "linalg::qr",
              "The decomposition failed");
        transpose(matrix.data(), k, m, q + i * m * k);
      });
}

// The row exchanges, undone from the last to the first, say where each row went.
void rows_of_exchanges(const int* pivots, int exchanges, int rows, uint32_t* out) {
  std::iota(out, out + rows, 0u);
  for (int i = exchanges - 1; i >= 0; --i) std::swap(out[i], out[pivots[i] - 1]);
}

template <typename T>
void lu(const array& in, std::vector<array>& outputs, const Stream& s) {
  const int m = in.shape(-2), n = in.shape(-1), k = std::min(m, n);
  for_each_matrix(
      in, s,
      [=, from = in.data<T>(), to = outputs[0].data<T>(), exchanged = outputs[1].data<uint32_t>(),
       rows = outputs[2].data<uint32_t>()](size_t i) {
        std::vector<T> matrix(size_t(m) * n);
        std::vector<int> pivots(static_cast<size_t>(k));
        transpose(from + i * matrix.size(), m, n, matrix.data());
        // A positive code means that a pivot is zero: U is singular, which is no error.
        check(std::min(lapack::getrf(m, n, matrix.data(), pivots.data()), 0), "linalg::lu",
              "The decomposition failed");
        transpose(matrix.data(), n, m, to + i * matrix.size());
        for (int j = 0; j < k; ++j) exchanged[i * k + j] = static_cast<uint32_t>(pivots[j] - 1);
        rows_of_exchanges(pivots.data(), k, m, rows + i * m);
      });
}

// The factor of the transpose that LAPACK sees is the transpose of ours.
template <typename T>
void cholesky(const array& in, array& out, bool upper, const Stream& s) {
  const int n = in.shape(-1);
  for_each_matrix(in, s, [=, from = in.data<T>(), to = out.data<T>()](size_t i) {
    const size_t size = size_t(n) * n;
    T* matrix = to + i * size;
    std::copy_n(from + i * size, size, matrix);
    check(lapack::potrf(upper ? 'L' : 'U', n, matrix), "linalg::cholesky",
          "The matrix is not positive definite");
    for (int row = 0; row < n; ++row) {
      for (int column = 0; column < n; ++column) {
        if (upper ? column < row : column > row) matrix[int64_t(row) * n + column] = T(0);
      }
    }
  });
}

// LAPACK reads the transpose, which is the conjugate of a Hermitian matrix: conjugate the
// eigenvectors.
template <typename T>
void eigh(const array& in, std::vector<array>& outputs, bool upper, bool vectors, const Stream& s) {
  using Real = typename RealOf<T>::type;
  const int n = in.shape(-1);
  T* to = vectors ? outputs[1].data<T>() : nullptr;
  for_each_matrix(in, s, [=, from = in.data<T>(), values = outputs[0].data<Real>()](size_t i) {
    const size_t size = size_t(n) * n;
    std::vector<T> matrix(from + i * size, from + (i + 1) * size);
    check(lapack::syevd(vectors ? 'V' : 'N', upper ? 'L' : 'U', n, matrix.data(), values + i * n),
          "linalg::eigh", "The eigenvalues were not found");
    if (!to) return;
    for (T& element : matrix) element = conjugate_of(element);
    transpose(matrix.data(), n, n, to + i * size);
  });
}

template <typename T>
void eig(const array& in, std::vector<array>& outputs, bool vectors, const Stream& s) {
  using Native = std::conditional_t<std::is_same_v<T, complex64_t>, std::complex<float>, T>;
  using Complex = std::complex<typename RealOf<T>::type>;
  const int n = in.shape(-1);
  complex64_t* to = vectors ? outputs[1].data<complex64_t>() : nullptr;
  for_each_matrix(
      in, s, [=, from = in.data<T>(), values = outputs[0].data<complex64_t>()](size_t i) {
        const size_t size = size_t(n) * n;
        std::vector<Native> matrix(size);
        for (int row = 0; row < n; ++row) {
          for (int column = 0; column < n; ++column)
            matrix[size_t(column) * n + row] = from[i * size + size_t(row) * n + column];
        }
        std::vector<Complex> found(static_cast<size_t>(n)), right(to ? size : 0);
        check(lapack::geev(n, matrix.data(), found.data(), to ? right.data() : nullptr),
              "linalg::eig", "The eigenvalues were not found");
        auto rounded = [](Complex z) {
          return complex64_t(static_cast<float>(z.real()), static_cast<float>(z.imag()));
        };
        std::transform(found.begin(), found.end(), values + i * n, rounded);
        for (size_t at = 0; at < right.size(); ++at)
          to[i * size + at % n * n + at / n] = rounded(right[at]);
      });
}

template <typename T>
T sign_of(T x) {
  if constexpr (std::is_same_v<T, complex64_t>) {
    const float size = std::abs(x);
    return size == 0 ? x : complex64_t(x.real() / size, x.imag() / size);
  } else {
    return x > 0 ? T(1) : x < 0 ? T(-1) : x;
  }
}

template <typename T>
void determinant(const array& in, std::vector<array>& outputs, const Stream& s) {
  using Real = typename RealOf<T>::type;
  const int n = in.shape(-1);
  Real* logarithms = outputs.size() == 2 ? outputs[1].data<Real>() : nullptr;
  for_each_matrix(in, s, [=, from = in.data<T>(), to = outputs[0].data<T>()](size_t i) {
    const size_t size = size_t(n) * n;
    std::vector<T> matrix(from + i * size, from + (i + 1) * size);
    std::vector<int> pivots(static_cast<size_t>(n));
    check(std::min(lapack::getrf(n, n, matrix.data(), pivots.data()), 0), "linalg::det",
          "The decomposition failed");
    T product(1);
    Real logarithm = 0;
    for (int j = 0; j < n; ++j) {
      const T pivot = matrix[size_t(j) * n + j];
      if (pivots[j] != j + 1) product = -product;
      product = product * (logarithms ? sign_of(pivot) : pivot);
      if (logarithms) logarithm += std::log(std::abs(pivot));
    }
    to[i] = product;
    if (logarithms) logarithms[i] = logarithm;
  });
}

}  // namespace

MLX_EVAL_MULTI(SVD) {
  decompose("linalg::svd", inputs, outputs, stream(), [&](auto type) {
    svd<decltype(type)>(row_contiguous(inputs[0], stream()), outputs, compute_uv_, stream());
  });
}

MLX_EVAL_MULTI(QRF) {
  decompose("linalg::qr", inputs, outputs, stream(), [&](auto type) {
    qr<decltype(type)>(row_contiguous(inputs[0], stream()), outputs, stream());
  });
}

MLX_EVAL_MULTI(LUF) {
  decompose("linalg::lu", inputs, outputs, stream(), [&](auto type) {
    lu<decltype(type)>(row_contiguous(inputs[0], stream()), outputs, stream());
  });
}

MLX_EVAL_MULTI(Eigh) {
  decompose("linalg::eigh", inputs, outputs, stream(), [&](auto type) {
    eigh<decltype(type)>(row_contiguous(inputs[0], stream()), outputs, upper_, vectors_, stream());
  });
}

MLX_EVAL_MULTI(Eig) {
  decompose("linalg::eig", inputs, outputs, stream(), [&](auto type) {
    eig<decltype(type)>(row_contiguous(inputs[0], stream()), outputs, vectors_, stream());
  });
}

MLX_EVAL_MULTI(Determinant) {
  decompose("linalg::det", inputs, outputs, stream(), [&](auto type) {
    determinant<decltype(type)>(row_contiguous(inputs[0], stream()), outputs, stream());
  });
}

MLX_EVAL(Cholesky) {
  std::vector<array> outputs{out};
  decompose("linalg::cholesky", inputs, outputs, stream(), [&](auto type) {
    cholesky<decltype(type)>(row_contiguous(inputs[0], stream()), out, upper_, stream());
  });
}

}  // namespace mlx::core
