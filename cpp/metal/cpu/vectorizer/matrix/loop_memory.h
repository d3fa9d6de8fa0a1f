// Keeps values in memory during a loop, where functions that the loop calls change them.
#pragma once

#include "llvm/IR/PassManager.h"

namespace metal::cpu {

// Sums of matrix products are in memory (Widener::take_from_memory). Where a value is stored at the
// start of every iteration, and was loaded from the same place at the end of the one before, it is
// stored before the loop instead. What only code behind the loop needs is loaded there.
class LoopMemoryPass : public llvm::PassInfoMixin<LoopMemoryPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& wide, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace metal::cpu
