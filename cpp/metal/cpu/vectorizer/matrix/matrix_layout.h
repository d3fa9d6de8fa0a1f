// Keeps matrices row by row where lanes would only pass them on.
#pragma once

#include "llvm/IR/PassManager.h"

namespace metal::cpu {

// Where lanes' elements that are made a matrix come from matrices (through loops, conversions and
// arithmetic that treats all elements alike), the same is done to the matrices instead.
class MatrixLayoutPass : public llvm::PassInfoMixin<MatrixLayoutPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& wide, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace metal::cpu
