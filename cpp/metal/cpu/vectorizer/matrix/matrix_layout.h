// Keeps matrices row by row where lanes only pass their elements on.
#pragma once

#include "llvm/IR/PassManager.h"

namespace metal::cpu {

// Where a matrix is made from lanes' elements, and these were computed from matrices through loops,
// conversions and element-wise arithmetic, the same is computed on the matrices instead.
class MatrixLayoutPass : public llvm::PassInfoMixin<MatrixLayoutPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& wide, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace metal::cpu
