// The library's version.
#pragma once

#include "mlx/api.h"

#define MLX_VERSION_MAJOR 0
#define MLX_VERSION_MINOR 1
#define MLX_VERSION_PATCH 0
#define MLX_VERSION_NUMERIC \
  (100000 * MLX_VERSION_MAJOR + 1000 * MLX_VERSION_MINOR + MLX_VERSION_PATCH)

namespace mlx::core {

const char* version();

}  // namespace mlx::core
