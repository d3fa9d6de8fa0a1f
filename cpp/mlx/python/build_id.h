// The identifier that a Python module and mlx.core must share to exchange objects.
#pragma once

#include <pybind11/pybind11.h>

#include "mlx/version.h"

#define MLX_STRINGIFY_EXPANDED(x) #x
#define MLX_STRINGIFY(x) MLX_STRINGIFY_EXPANDED(x)

// The version of the array library, and pybind11's name for the layout of its objects.
#define MLX_BUILD_ID MLX_ANYWHERE_VERSION " " PYBIND11_INTERNALS_ID
