// simd::matrix<T, C, R>: C columns of R rows, stored column by column.
#pragma once

#include "simd/vector.h"

namespace simd {

template <typename T, int C, int R>
struct matrix {
  using column = vec<T, R>;
  column columns[C];

  matrix() = default;
  // The value on the diagonal, zeros elsewhere.
  explicit constexpr matrix(T diagonal) : columns{} {
    for (int i = 0; i < std::min(C, R); ++i) columns[i][i] = diagonal;
  }
  constexpr matrix(column c0, column c1)
    requires(C == 2)
      : columns{c0, c1} {}
  constexpr matrix(column c0, column c1, column c2)
    requires(C == 3)
      : columns{c0, c1, c2} {}
  constexpr matrix(column c0, column c1, column c2, column c3)
    requires(C == 4)
      : columns{c0, c1, c2, c3} {}
};

template <typename T, int C, int R>
constexpr matrix<T, C, R> operator+(matrix<T, C, R> a, matrix<T, C, R> b) {
  for (int i = 0; i < C; ++i) a.columns[i] += b.columns[i];
  return a;
}
template <typename T, int C, int R>
constexpr matrix<T, C, R> operator-(matrix<T, C, R> a, matrix<T, C, R> b) {
  for (int i = 0; i < C; ++i) a.columns[i] -= b.columns[i];
  return a;
}
template <typename T, int C, int R>
constexpr matrix<T, C, R> operator*(matrix<T, C, R> a, scalar_of<T> s) {
  for (int i = 0; i < C; ++i) a.columns[i] *= s;
  return a;
}
template <typename T, int C, int R>
constexpr matrix<T, C, R> operator*(scalar_of<T> s, matrix<T, C, R> a) {
  return a * s;
}
template <typename T, int C, int R>
constexpr vec<T, R> operator*(matrix<T, C, R> m, vec<T, C> v) {
  vec<T, R> product(T(0));
  for (int i = 0; i < C; ++i) product += m.columns[i] * v[i];
  return product;
}
template <typename T, int C, int K, int R>
constexpr matrix<T, C, R> operator*(matrix<T, K, R> a, matrix<T, C, K> b) {
  matrix<T, C, R> product(T(0));
  for (int i = 0; i < C; ++i) product.columns[i] = a * b.columns[i];
  return product;
}

template <typename T, int C, int R>
constexpr matrix<T, R, C> transpose(matrix<T, C, R> m) {
  matrix<T, R, C> transposed(T(0));
  for (int i = 0; i < C; ++i) {
    for (int j = 0; j < R; ++j) transposed.columns[j][i] = m.columns[i][j];
  }
  return transposed;
}

}  // namespace simd

// The names of C for matrices of a type.
#define SIMD_MATRIX(T, C, R)                       \
  namespace simd {                                 \
  using T##C##x##R = matrix<T, C, R>;              \
  }                                                \
  typedef simd::matrix<T, C, R> simd_##T##C##x##R; \
  typedef simd::matrix<T, C, R> matrix_##T##C##x##R;
#define SIMD_SQUARE_MATRIX(T, N) \
  SIMD_MATRIX(T, N, N)           \
  inline constexpr matrix_##T##N##x##N matrix_identity_##T##N##x##N(T(1));
#define SIMD_MATRICES(T)   \
  SIMD_SQUARE_MATRIX(T, 2) \
  SIMD_SQUARE_MATRIX(T, 3) \
  SIMD_SQUARE_MATRIX(T, 4) \
  SIMD_MATRIX(T, 2, 3)     \
  SIMD_MATRIX(T, 2, 4)     \
  SIMD_MATRIX(T, 3, 2)     \
  SIMD_MATRIX(T, 3, 4)     \
  SIMD_MATRIX(T, 4, 2)     \
  SIMD_MATRIX(T, 4, 3)

SIMD_MATRICES(float)
SIMD_MATRICES(double)

#undef SIMD_MATRICES
#undef SIMD_SQUARE_MATRIX
#undef SIMD_MATRIX

template <typename A, typename B>
constexpr auto simd_mul(A a, B b) {
  return a * b;
}
template <typename A, typename B>
constexpr auto matrix_multiply(A a, B b) {
  return a * b;
}
template <typename M>
constexpr auto simd_transpose(M m) {
  return simd::transpose(m);
}
template <typename M>
constexpr auto matrix_transpose(M m) {
  return simd::transpose(m);
}
