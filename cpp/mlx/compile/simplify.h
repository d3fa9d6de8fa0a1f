// Simplifies traces.
#pragma once

#include "mlx/compile/trace.h"

namespace mlx::core {

// Merges equal computations, and removes operations without effect and those that no output needs.
void simplify(Trace& trace);

}  // namespace mlx::core
