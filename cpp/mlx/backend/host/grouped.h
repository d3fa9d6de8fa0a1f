// Pairs of matrices to multiply, grouped by the right matrix: the rows of all its left matrices
// form one tall matrix.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "mlx/backend/host/blas.h"

namespace mlx::core::cpu {

struct Groups {
  std::vector<int> left;      // for each pair, ordered by group: its left matrix
  std::vector<size_t> pair;   // for each of these pairs: its index in the order given
  std::vector<size_t> first;  // for each right matrix: its first pair; then the number of pairs

  // Negative indices count from the end; indices out of range are clamped.
  Groups(const int* lhs, const int* rhs, size_t count, int left_count, int right_count);

  size_t size(int right) const { return first[right + 1] - first[right]; }
};

// c = alpha a b + beta c for all pairs of one right matrix. `p` is the product of one pair; the
// matrices a and c follow each other in memory. a is not transposed.
template <typename T, typename Gemm>
void multiply_group(const Groups& groups, int right, Product p, const T* a, const T* b, T* c,
                    Gemm gemm) {
  const size_t begin = groups.first[right], count = groups.size(right);
  if (count == 0) return;
  const size_t a_size = static_cast<size_t>(p.m) * p.lda, c_size = static_cast<size_t>(p.m) * p.ldc;
  auto a_of = [&](size_t i) { return a + groups.left[begin + i] * a_size; };
  auto c_of = [&](size_t i) { return c + groups.pair[begin + i] * c_size; };
  bool contiguous = true;
  for (size_t i = 1; i < count && contiguous; ++i) {
    contiguous = a_of(i) == a_of(i - 1) + a_size && c_of(i) == c_of(i - 1) + c_size;
  }
  const int m = p.m;
  if (contiguous || count == 1) {
    p.m = static_cast<int>(m * count);
    return gemm(p, a_of(0), b, c_of(0));
  }
  // Copies the rows, so that they are contiguous.
  std::vector<T> rows(count * m * p.k), out(count * m * p.n);
  auto for_rows = [&](auto&& f) {
    for (size_t i = 0; i < count; ++i) {
      for (int row = 0; row < m; ++row) {
        f(a_of(i) + static_cast<size_t>(row) * p.lda, c_of(i) + static_cast<size_t>(row) * p.ldc,
          i * m + row);
      }
    }
  };
  const bool adds = p.beta != 0.0;
  for_rows([&](const T* from, const T* to, size_t row) {
    std::copy(from, from + p.k, rows.data() + row * p.k);
    if (adds) std::copy(to, to + p.n, out.data() + row * p.n);
  });
  Product tall = p;
  tall.m = static_cast<int>(m * count);
  tall.lda = p.k;
  tall.ldc = p.n;
  gemm(tall, rows.data(), b, out.data());
  for_rows([&](const T*, T* to, size_t row) {
    std::copy(out.data() + row * p.n, out.data() + (row + 1) * p.n, to);
  });
}

}  // namespace mlx::core::cpu
