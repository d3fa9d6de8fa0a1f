// einsum is declared with the other products; users of MLX include this header for it.
#pragma once

#include "mlx/ops/linear.h"
