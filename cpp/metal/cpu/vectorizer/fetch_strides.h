// Loops that go through memory in large strides: processors fetch only what is near.
#pragma once

#include "llvm/IR/PassManager.h"

namespace metal::cpu {

// A loop all of whose reads of device memory go far from turn to turn also asks for what they will
// read some turns later. As threads of a unit read side by side, other units come back for what
// lies between: such a loop is how the threads of a GPU share out a row.
class FetchStridesPass : public llvm::PassInfoMixin<FetchStridesPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& body, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace metal::cpu
