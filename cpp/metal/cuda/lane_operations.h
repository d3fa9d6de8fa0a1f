// Barriers and SIMD-group functions in the kernel that is launched, until they are lowered.
#pragma once

#include "metal/compiler/convergence.h"

namespace metal::cuda {

// The name after `__metal_` in calls of barriers and SIMD-group functions; empty for other
// instructions.
llvm::StringRef operation_of(const llvm::Instruction& instruction);

// The blocks that the threads of a SIMD-group run in convergence. It waits where operations of the
// whole SIMD-group are, lowered or not.
compiler::Convergence find_convergence(llvm::Function& kernel);

}  // namespace metal::cuda
