// For older extensions made for MLX, which include slices by this path.
#pragma once

#include "mlx/backend/common/slicing.h"
