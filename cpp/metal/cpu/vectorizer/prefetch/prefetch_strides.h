// Prefetches for loops with large strides: processors prefetch only what is near by themselves.
#pragma once

#include "llvm/IR/PassManager.h"

namespace metal::cpu {

// A loop all of whose reads of device memory go far from one iteration to the next also prefetches
// what they will read some iterations later. Threads of a gang read side by side, and other gangs
// come back for what lies between: the threads of a GPU share out a row by such a loop.
class PrefetchStridesPass : public llvm::PassInfoMixin<PrefetchStridesPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& body, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace metal::cpu
