// Gives short loops that start at the thread's place a copy for each gang.
#pragma once

#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/PassManager.h"
#include "metal/cpu/variant.h"

namespace metal::cpu {

// Threads fill a tile in loops such as `for (i = index; i < 18 * 18; i += 256)`. In a copy for one
// gang, the first `index` is a constant plus the lane's number. So its iterations are known and are
// unrolled, and what is computed from `i`, such as `i / 18` and `i % 18`, is a constant for each
// lane.
//
// All lanes of a gang run its copy. The loops have no barriers and no calls. True if there are such
// copies: phases with them are then unrolled (see phase_loops.h), which leaves each gang its own.
bool copy_loops_of_gangs(llvm::Function& body, const Variant& variant,
                         llvm::FunctionAnalysisManager& analyses);

// Whether copy_loops_of_gangs has changed the code, also after it was widened.
bool has_loops_of_gangs(const llvm::Function& code);

// The ways that a gang may take from here because of its number alone, less one.
unsigned choices_of_gang(const llvm::BasicBlock& block);

}  // namespace metal::cpu
