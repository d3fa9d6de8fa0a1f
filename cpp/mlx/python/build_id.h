// What a Python module and mlx.core must agree on to exchange objects.
#pragma once

#include <pybind11/pybind11.h>

#include "mlx/version.h"

#define MLX_STRINGIFY_EXPANDED(x) #x
#define MLX_STRINGIFY(x) MLX_STRINGIFY_EXPANDED(x)

// The version of the array library, and pybind11's name for the layout of its objects.
#define MLX_BUILD_ID                                      \
  MLX_STRINGIFY(MLX_VERSION_MAJOR)                        \
  "." MLX_STRINGIFY(MLX_VERSION_MINOR) "." MLX_STRINGIFY( \
      MLX_VERSION_PATCH) " " PYBIND11_INTERNALS_ID
