// Loops over a thread's arrays are unrolled, so that elements become values, and loops that
// multiply matrices, so that products for the same sums meet.
#pragma once

#include "llvm/IR/PassManager.h"

namespace metal::cpu {

// Marks loops of few iterations that index a variable of the thread by their counter, or add up
// products that can be joined: the unroller follows the mark. Elements that are addressed by
// constants need no memory.
class UnrollPrivatePass : public llvm::PassInfoMixin<UnrollPrivatePass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& body, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace metal::cpu
