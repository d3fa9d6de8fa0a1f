// For extensions made for MLX: the batches of a matrix product.
#pragma once

#include <concepts>
#include <tuple>
#include <vector>

#include "mlx/backend/common/utils.h"

namespace mlx::core {

// The shape of the axes in front of the matrices, and the strides of each array along them. The
// arrays have the same shape there; neighbouring axes are one where that is possible for all.
template <std::same_as<array>... Others>
auto collapse_batches(const array& a, const array& b, const Others&... others) {
  const auto in_front = [](const auto& all) {
    return std::decay_t<decltype(all)>(all.begin(), all.end() - 2);
  };
  auto [shape, strides] = collapse_contiguous_dims(
      in_front(a.shape()), std::vector<Strides>{in_front(a.strides()), in_front(b.strides()),
                                                in_front(others.strides())...});
  const auto split = [&]<size_t... I>(std::index_sequence<I...>) {
    return std::make_tuple(shape, strides[I]...);
  };
  return split(std::make_index_sequence<2 + sizeof...(Others)>());
}

}  // namespace mlx::core
