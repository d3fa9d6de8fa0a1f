// For extensions made for MLX: the allocator of arrays.
#pragma once

#include "mlx/allocator.h"

namespace mlx::core::metal {

inline allocator::Allocator& allocator() { return core::allocator::allocator(); }

}  // namespace mlx::core::metal
