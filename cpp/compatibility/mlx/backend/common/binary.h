// For extensions made for MLX: memory of the outputs of binary operations.
#pragma once

#include "mlx/backend/common/elementwise.h"
