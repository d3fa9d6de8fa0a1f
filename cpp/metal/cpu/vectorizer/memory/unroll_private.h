// Unrolls loops over a thread's arrays, so that elements become values, and loops over products of
// matrices, so that products for the same sums can be joined.
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
