// Unrolls loops over a thread's arrays, so that their elements become values, and loops over
// products of matrices, so that these can be computed as blocks.
#pragma once

#include "llvm/IR/PassManager.h"

namespace metal::cpu {

// Marks loops of few iterations that index a private variable by their counter, or that add
// products of matrices. LLVM's unroller unrolls the marked loops. Elements with constant indices
// then need no memory.
class UnrollPrivatePass : public llvm::PassInfoMixin<UnrollPrivatePass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& body, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace metal::cpu
