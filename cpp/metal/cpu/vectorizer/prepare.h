// Brings a kernel's body to the form that the vectoriser works on.
#pragma once

#include "llvm/IR/PassManager.h"

namespace metal::cpu {

// Two-way branches only, one return, reducible loops with one preheader, one latch and one exit
// block each, in LCSSA form; no vectors.
class PreparePass : public llvm::PassInfoMixin<PreparePass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& body, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace metal::cpu
