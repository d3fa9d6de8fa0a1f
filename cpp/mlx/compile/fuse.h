// Fuses operations of a trace.
#pragma once

#include "mlx/compile/trace.h"

namespace mlx::core {

// Replaces groups of elementwise operations on arrays of one shape by Compiled primitives, and
// those that end in a reduction by CompiledReduce. Each of them runs as one kernel.
void fuse(Trace& trace);

}  // namespace mlx::core
