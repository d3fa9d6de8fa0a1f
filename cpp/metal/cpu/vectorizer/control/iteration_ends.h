// Makes lanes that diverge in an iteration of a loop reconverge in it, or behind the loop.
#pragma once

#include "llvm/IR/PassManager.h"

namespace metal::cpu {

//   for (uint k = 0;; ++k) {
//     if (a[k] < lane) continue;
//     sum += a[k];
//     if (a[k] > 40) break;
//   }
//
// The only way out leads through the sum, so the sum post-dominates the first branch: lanes that
// skip it come there in a later iteration. But it is no place where the branch's lanes reconverge.
// This step gives the end of such iterations an exit that no lane takes, so that nothing in the
// loop post-dominates what is before it by way of the next iteration. Loops are in LCSSA form, with
// one latch and one exit block.
class IterationEndsPass : public llvm::PassInfoMixin<IterationEndsPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& body, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace metal::cpu
