// Lets a thread of the GPU run several threads of a kernel that lie side by side.
//
// With one thread for each element, a GPU has too few bytes on their way to reach its memory's
// bandwidth. A thread that runs some of them reads their elements as a vector.
#pragma once

#include "metal/cuda/thread_position.h"

namespace llvm {
class Function;
}

namespace metal::cuda {

// How many threads of this kernel, in kernel form, one thread may run; 1 if that does not pay.
//
// Threads that do not wait for each other have no order: so the instructions of several may take
// turns, if the kernel has no barriers, SIMD-group functions, threadgroup memory and atomics. They
// run branches one after the other; in these, none may use memory. Addresses may be made of 32-bit
// numbers that wrap around: a test before the code finds whether one does so among the threads.
uint32_t threads_at_once(const llvm::Function& kernel);

// Emits the body of the entry: `count` threads of the kernel, side by side in x, at once, or one
// after the other at the edge of the grid. The grid has less than 2^31 threads in x.
void run_several(llvm::IRBuilder<>& b, const llvm::Function& kernel, const GridArguments& grid,
                 uint32_t count);

}  // namespace metal::cuda
