// What kernels need that reduce arrays.
#pragma once

#include "mlx/backend/metal/kernels/atomic.h"
#include "mlx/backend/metal/kernels/reduction/ops.h"
