// For extensions made for MLX: bfloat16_t.
#pragma once

#include "mlx/types/half_types.h"
