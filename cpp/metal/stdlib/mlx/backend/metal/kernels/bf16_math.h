// Empty, as the mathematical functions of metal_math accept bfloat.
#pragma once

#include "mlx/backend/metal/kernels/bf16.h"
