// Makes the lanes of a warp run together what the threads of a SIMD-group do together.
#pragma once

#include "llvm/IR/PassManager.h"

namespace metal::cuda {

// NVIDIA's assembler lets the lanes that diverge at a branch meet again where all its paths join,
// and often earlier, but not in all code:
//
//   for (;;) {
//     if (a || b) sum += simd_sum(x);  // lanes that tested `b` come later than the others
//     if (c) continue;                 // may run the next iteration before the others
//     if (d) break;
//   }
//
// A kernel that has SIMD-group functions where lanes may come apart gets structured control flow,
// whose every branch has a block in which all its lanes wait for each other. Returns whether the
// kernel was one. There, lanes that return early wait for the others, too.
bool reconverge(llvm::Function& kernel, llvm::FunctionAnalysisManager& analyses);

}  // namespace metal::cuda
