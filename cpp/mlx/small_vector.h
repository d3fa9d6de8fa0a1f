// SmallVector: MLX's type of shapes and strides, here a std::vector.
#pragma once

#include <vector>

namespace mlx::core {

template <typename T>
using SmallVector = std::vector<T>;

}  // namespace mlx::core
