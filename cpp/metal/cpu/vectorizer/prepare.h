// Brings a kernel's body into the form that the vectoriser works on.
#pragma once

#include "llvm/IR/PassManager.h"

namespace metal::cpu {

// Removes assumptions and lifetime markers: they would be wrong when lanes run code for each other.
// Assumptions also look like effects.
void remove_hints(llvm::Function& body);

// In this form, branches have two successors, there is one return, loops are reducible, have one
// preheader, one latch and one exit block, and are in LCSSA form, and there are no vectors.
class PreparePass : public llvm::PassInfoMixin<PreparePass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& body, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace metal::cpu
