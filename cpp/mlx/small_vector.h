// SmallVector: the name of the type of shapes and strides. Here they are plain vectors.
#pragma once

#include <vector>

namespace mlx::core {

template <typename T>
using SmallVector = std::vector<T>;

}  // namespace mlx::core
