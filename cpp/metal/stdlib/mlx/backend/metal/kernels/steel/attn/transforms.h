// The epilogues and the order of tiles are those of matrix products.
#pragma once

#include "mlx/backend/metal/kernels/steel/gemm/transforms.h"
