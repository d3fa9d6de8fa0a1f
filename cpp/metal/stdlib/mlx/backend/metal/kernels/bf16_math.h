// The mathematical functions of metal_math take bfloat: nothing is left to add.
#pragma once

#include "mlx/backend/metal/kernels/bf16.h"
