// Products of large float32 matrices on matrix registers.
#pragma once

#include "mlx/backend/host/matrices.h"

namespace mlx::core::cpu {

// Whether the processor has matrix registers, and the product is large enough for them.
bool is_for_tiles(const Product& p);

// Computes c = alpha a b + beta c on all cores, or on the calling thread alone.
void multiply_on_tiles(const Product& p, const float* a, const float* b, float* c, bool alone);

}  // namespace mlx::core::cpu
