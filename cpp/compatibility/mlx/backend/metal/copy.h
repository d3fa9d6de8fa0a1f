// For older extensions made for MLX, which include the copies by this path.
#pragma once

#include "mlx/backend/gpu/copy.h"
