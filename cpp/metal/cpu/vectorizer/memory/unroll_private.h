// Unrolls loops over a thread's arrays, so that their elements become values, loops over products
// of matrices, so that these can be computed as blocks, and loops over a few neighbouring elements
// of device memory, so that these can be computed where they are (interleaved_arithmetic.h).
#pragma once

#include "llvm/IR/PassManager.h"

namespace metal::cpu {

// Marks loops of few iterations that index a private variable by their counter, add products of
// matrices, or store a run of elements. LLVM's unroller unrolls the marked loops. Elements with
// constant indices then need no memory.
class UnrollPrivatePass : public llvm::PassInfoMixin<UnrollPrivatePass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& body, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace metal::cpu
