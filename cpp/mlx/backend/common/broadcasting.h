// Broadcasts inside an evaluation.
#pragma once

#include "mlx/array.h"

namespace mlx::core {

// Makes `out`, whose shape is set, a view that repeats the elements of `in`.
void broadcast(const array& in, array& out);

}  // namespace mlx::core
