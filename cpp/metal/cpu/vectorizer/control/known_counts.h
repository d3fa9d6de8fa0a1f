// Makes it plain how often loops run that start at a thread's place in its threadgroup.
#pragma once

#include "llvm/IR/PassManager.h"

namespace metal::cpu {

// The threads of a threadgroup often share the rows of a tile: for (i = y; i < 32; i += 8). Where y
// is below 8, each of them gets four. LLVM only unrolls loops whose number of iterations is a
// constant by its form; here it is one by the ranges of what it is computed from. Such loops get
// a counter.
struct KnownCountsPass : llvm::PassInfoMixin<KnownCountsPass> {
  llvm::PreservedAnalyses run(llvm::Function& body, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace metal::cpu
