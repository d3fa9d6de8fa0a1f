// LAPACK's functions for matrices of floats, doubles and complex numbers, overloaded by type.
// Matrices are in column-major order without gaps, as LAPACK has it. Each returns LAPACK's code.
#pragma once

#include <algorithm>
#include <complex>
#include <vector>

#include "mlx/types/complex.h"

#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <lapacke.h>

namespace mlx::core::lapack {

inline constexpr int kByColumns = LAPACK_COL_MAJOR;

template <typename T>
T* native(T* data) {
  return data;
}
inline std::complex<float>* native(complex64_t* data) { return data; }
inline const std::complex<float>* native(const complex64_t* data) { return data; }

// The length of a column; LAPACK requires at least 1.
inline int column(int rows) { return std::max(rows, 1); }

// `prefix` is LAPACK's letter for the type. Functions for Hermitian and unitary matrices have other
// names for real types.
#define MLX_LAPACK(T, Real, prefix, hermitian, unitary)                                      \
  inline int getrf(int m, int n, T* a, int* pivots) {                                        \
    return LAPACKE_##prefix##getrf(kByColumns, m, n, native(a), column(m), pivots);          \
  }                                                                                          \
  inline int potrf(char triangle, int n, T* a) {                                             \
    return LAPACKE_##prefix##potrf(kByColumns, triangle, n, native(a), column(n));           \
  }                                                                                          \
  inline int geqrf(int m, int n, T* a, T* factors) {                                         \
    return LAPACKE_##prefix##geqrf(kByColumns, m, n, native(a), column(m), native(factors)); \
  }                                                                                          \
  inline int orgqr(int m, int k, T* a, const T* factors) {                                   \
    return LAPACKE_##prefix##unitary##gqr(kByColumns, m, k, k, native(a), column(m),         \
                                          native(factors));                                  \
  }                                                                                          \
  inline int syevd(char vectors, char triangle, int n, T* a, Real* values) {                 \
    return LAPACKE_##prefix##hermitian##evd(kByColumns, vectors, triangle, n, native(a),     \
                                            column(n), values);                              \
  }                                                                                          \
  inline int gesdd(char vectors, int m, int n, T* a, Real* values, T* u, T* vt) {            \
    return LAPACKE_##prefix##gesdd(kByColumns, vectors, m, n, native(a), column(m), values,  \
                                   native(u), column(m), native(vt), column(n));             \
  }

MLX_LAPACK(float, float, s, sy, or)
MLX_LAPACK(double, double, d, sy, or)
MLX_LAPACK(complex64_t, float, c, he, un)

#undef MLX_LAPACK

// Eigenvalues, and eigenvectors where `right` is not null.
inline int geev(int n, std::complex<float>* a, std::complex<float>* values,
                std::complex<float>* right) {
  return LAPACKE_cgeev(kByColumns, 'N', right ? 'V' : 'N', n, a, column(n), values, nullptr, 1,
                       right, column(n));
}

// For a real matrix: conjugate eigenvalues follow each other, and LAPACK gives the real and the
// imaginary part of the first one's vector.
template <typename T>
int geev(int n, T* a, std::complex<T>* values, std::complex<T>* right) {
  std::vector<T> real(static_cast<size_t>(n)), imaginary(static_cast<size_t>(n));
  std::vector<T> parts(right ? static_cast<size_t>(n) * n : 1);
  const char job = right ? 'V' : 'N';
  int code = 0;
  if constexpr (std::is_same_v<T, float>) {
    code = LAPACKE_sgeev(kByColumns, 'N', job, n, a, column(n), real.data(), imaginary.data(),
                         nullptr, 1, parts.data(), column(n));
  } else {
    code = LAPACKE_dgeev(kByColumns, 'N', job, n, a, column(n), real.data(), imaginary.data(),
                         nullptr, 1, parts.data(), column(n));
  }
  for (int j = 0; j < n; ++j) values[j] = {real[j], imaginary[j]};
  if (!right) return code;
  const auto height = static_cast<size_t>(n);
  for (size_t j = 0; j < height; ++j) {
    const bool pair = imaginary[j] != 0 && j + 1 < height;
    for (size_t i = 0; i < height; ++i) {
      const T im = pair ? parts[(j + 1) * height + i] : T(0);
      right[j * height + i] = {parts[j * height + i], im};
      if (pair) right[(j + 1) * height + i] = {parts[j * height + i], -im};
    }
    if (pair) ++j;
  }
  return code;
}

}  // namespace mlx::core::lapack
