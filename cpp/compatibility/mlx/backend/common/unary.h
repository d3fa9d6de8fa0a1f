// For extensions made for MLX: memory of the outputs of unary operations.
#pragma once

#include "mlx/backend/common/elementwise.h"
