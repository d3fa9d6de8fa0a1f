// Makes the lanes of a warp do together what the threads of a SIMD-group do together.
#pragma once

#include "llvm/IR/PassManager.h"

namespace metal::cuda {

// NVIDIA's assembler does not promise that the lanes that diverge at a branch are together again
// where all its paths join, and in some code they could not be:
//
//   for (;;) {
//     if (a || b) sum += simd_sum(x);  // lanes that tested `b` come later than the others
//     if (c) continue;                 // may run the next iteration before the others
//     if (d) break;
//   }
//
// So lanes wait for each other at the joins behind which SIMD-group functions ask the hardware for
// the active lanes, unless a barrier comes before that. If such functions are where lanes may come
// apart, or if paths into a branch's code do not lead through the branch, the kernel gets
// structured control flow first. Returns whether it did: then lanes that return early wait for the
// others, too.
bool reconverge(llvm::Function& kernel, llvm::FunctionAnalysisManager& analyses);

}  // namespace metal::cuda
