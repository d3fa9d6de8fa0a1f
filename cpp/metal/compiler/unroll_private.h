// Unrolls loops over a thread's arrays, so that their elements become values, loops over products
// of matrices, so that these can be computed as blocks, and loops over a few neighbouring elements
// of device memory, so that these can be accessed at once.
#pragma once

#include "llvm/IR/PassManager.h"

namespace metal::compiler {

// Marks loops of few iterations that index a private variable by their counter, add products of
// matrices, or store a run of elements. LLVM's unroller unrolls the marked loops. Elements with
// constant indices then need no memory.
class UnrollPrivatePass : public llvm::PassInfoMixin<UnrollPrivatePass> {
 public:
  // `max_instructions` limits the size of an unrolled loop.
  explicit UnrollPrivatePass(unsigned max_instructions = 4096)
      : max_instructions_(max_instructions) {}

  llvm::PreservedAnalyses run(llvm::Function& body, llvm::FunctionAnalysisManager& analyses);

 private:
  unsigned max_instructions_;
};

}  // namespace metal::compiler
