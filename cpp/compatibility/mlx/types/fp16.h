// For extensions made for MLX: float16_t.
#pragma once

#include "mlx/types/half_types.h"
