// Joins products of 8x8 matrices: as many are computed at once as registers have room for.
#pragma once

#include "llvm/IR/PassManager.h"

namespace metal::cpu {

// Where a function only loads, multiplies and stores whole matrices, they lie in memory row by row,
// or stay where lanes loaded them from. Products that share an A or a B are then computed together.
class JoinProductsPass : public llvm::PassInfoMixin<JoinProductsPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& wide, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace metal::cpu
