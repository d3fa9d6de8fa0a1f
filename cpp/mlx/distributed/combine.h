// Reductions of arrays on the host, in the arrays' own type.
#pragma once

#include <cstddef>

#include "mlx/distributed/backend.h"

namespace mlx::core::distributed {

// to[i] = a[i] + b[i], or the larger or the smaller one. NaNs win. `to` may be `a`.
void combine(Reduction reduction, Dtype dtype, const char* a, const char* b, char* to,
             size_t count);

}  // namespace mlx::core::distributed
