// Splits addresses into a variable part and a constant offset.
#pragma once

#include "llvm/IR/PassManager.h"

namespace metal::cpu {

// Accesses to neighbours (elements of a vector, members of a struct, rows of a tile) then differ in
// the offset only, and can be recognised as neighbours.
class ConstantOffsetsPass : public llvm::PassInfoMixin<ConstantOffsetsPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& body, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace metal::cpu
