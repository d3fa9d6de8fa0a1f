// Fragments, tiles and blocks of matrices, with operations on their rows, are those of products.
#pragma once

#include "mlx/backend/metal/kernels/steel/gemm/mma.h"
