// Loops on the host over strided operands.
#pragma once

#include <array>
#include <vector>

#include "mlx/array.h"

namespace mlx::core::cpu {

// Calls f(index, offsets...) for each element in row-major order; offsets follow each operand's
// strides.
template <size_t N, typename F>
void walk(const Shape& shape, const std::array<Strides, N>& strides, F&& f) {
  std::array<int64_t, N> offsets{};
  std::vector<int> position(shape.size(), 0);
  int64_t size = 1;
  for (int length : shape) {
    size *= length;
  }
  for (int64_t i = 0; i < size; ++i) {
    std::apply([&](auto... offset) { f(i, offset...); }, offsets);
    for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
      for (size_t k = 0; k < N; ++k) {
        offsets[k] += strides[k][d];
      }
      if (++position[d] < shape[d]) {
        break;
      }
      for (size_t k = 0; k < N; ++k) {
        offsets[k] -= strides[k][d] * shape[d];
      }
      position[d] = 0;
    }
  }
}

}  // namespace mlx::core::cpu
