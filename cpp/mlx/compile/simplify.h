// Simplifies traces.
#pragma once

#include "mlx/compile/trace.h"

namespace mlx::core {

// Computes what is computed twice only once, leaves out what only hands its input on, and what no
// output needs.
void simplify(Trace& trace);

}  // namespace mlx::core
