// Loops on the host over strided operands.
#pragma once

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "mlx/array.h"

namespace mlx::core::cpu {

// Calls f(i, offsets, steps, count) for each line along the last axis, in row-major order: `i` is
// the number of the line's first element, `offsets` is where that lies in each operand, and `steps`
// is how far the next one is from it.
template <size_t N, typename F>
void walk_lines(const Shape& shape, const std::array<Strides, N>& strides, F&& f) {
  const int outer = std::max(static_cast<int>(shape.size()) - 1, 0);
  const int64_t count = shape.empty() ? 1 : shape.back();
  std::array<int64_t, N> offsets{}, steps{};
  for (size_t k = 0; k < N && !shape.empty(); ++k) steps[k] = strides[k][outer];
  int64_t size = count;
  for (int d = 0; d < outer; ++d) size *= shape[d];
  std::vector<int> position(outer, 0);
  for (int64_t i = 0; i < size; i += count) {
    f(i, offsets, steps, count);
    for (int d = outer - 1; d >= 0; --d) {
      for (size_t k = 0; k < N; ++k) offsets[k] += strides[k][d];
      if (++position[d] < shape[d]) break;
      for (size_t k = 0; k < N; ++k) offsets[k] -= strides[k][d] * shape[d];
      position[d] = 0;
    }
  }
}

// Calls f(i, offsets...) for each element in row-major order; offsets follow each operand's
// strides.
template <size_t N, typename F>
void walk(const Shape& shape, const std::array<Strides, N>& strides, F&& f) {
  walk_lines<N>(shape, strides, [&](int64_t i, auto offsets, const auto& steps, int64_t count) {
    for (const int64_t end = i + count; i < end; ++i) {
      std::apply([&](auto... offset) { f(i, offset...); }, offsets);
      for (size_t k = 0; k < N; ++k) offsets[k] += steps[k];
    }
  });
}

}  // namespace mlx::core::cpu
