// Finds positions in the grid that a kernel computes from its threadgroup's position.
#pragma once

#include <cstdint>

namespace llvm {
class Function;
}

namespace metal::cuda {

// `threadgroup_position_in_grid.x * size + thread_position_in_threadgroup.x` is
// thread_position_in_grid.x if all threadgroups have this size in x. Returns the size: a constant
// or, for `threads_per_threadgroup.x`, KernelInterface::kAnySize; 0 if a kernel in kernel form has
// no such sums. If `replace`, they become thread_position_in_grid.x.
uint32_t find_summed_positions(llvm::Function& kernel, bool replace);

}  // namespace metal::cuda
