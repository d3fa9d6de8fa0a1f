// Turns operations on whole matrices into code of the processor.
#pragma once

#include "llvm/IR/PassManager.h"

namespace metal::cpu {

// Sums of products stay in memory, and as many products are computed at once as registers have room
// for. Factors are read from where the kernel has them, if nothing writes there in between.
class LowerMatricesPass : public llvm::PassInfoMixin<LowerMatricesPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& wide, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace metal::cpu
