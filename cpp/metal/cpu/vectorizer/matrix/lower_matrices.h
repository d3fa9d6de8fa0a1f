// Lowers operations on whole matrices to loads, stores and block products.
#pragma once

#include "llvm/IR/PassManager.h"

namespace metal::cpu {

// Keeps sums of products in memory between block products, which are as large as the registers
// allow. Factors are read from the kernel's memory if nothing writes there in between.
class LowerMatricesPass : public llvm::PassInfoMixin<LowerMatricesPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& wide, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace metal::cpu
