// Computes with interleaved elements where they are, instead of taking them apart.
#pragma once

#include "llvm/IR/PassManager.h"

namespace metal::cpu {

// A thread that computes with four neighbouring elements, as a float4 or one after the other, reads
// a block of memory that is taken apart into four vectors, one for each of the thread's elements.
// Results are interleaved again before they are stored. If all four go through the same operations,
// which do not move elements, the block itself goes through them. Loops may carry it, as sums.
class InterleavedArithmeticPass : public llvm::PassInfoMixin<InterleavedArithmeticPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& wide, llvm::FunctionAnalysisManager&);
};

}  // namespace metal::cpu
