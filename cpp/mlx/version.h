// The version of MLX whose interface this library has, and its own version.
#pragma once

#include "mlx/api.h"

#define MLX_VERSION_MAJOR 0
#define MLX_VERSION_MINOR 32
#define MLX_VERSION_PATCH 4
#define MLX_VERSION_NUMERIC \
  (100000 * MLX_VERSION_MAJOR + 1000 * MLX_VERSION_MINOR + MLX_VERSION_PATCH)

#define MLX_ANYWHERE_VERSION "0.1.0"

namespace mlx::core {

const char* version();  // MLX's

}  // namespace mlx::core
