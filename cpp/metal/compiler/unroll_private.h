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
  // `max_instructions` limits the size of an unrolled loop. A load from device memory counts as
  // `load_size` instructions: in vector code, it may read elements that are apart from each other.
  explicit UnrollPrivatePass(unsigned max_instructions = 4096, unsigned load_size = 8)
      : max_instructions_(max_instructions), load_size_(load_size) {}

  llvm::PreservedAnalyses run(llvm::Function& body, llvm::FunctionAnalysisManager& analyses);

 private:
  unsigned max_instructions_;
  unsigned load_size_;
};

}  // namespace metal::compiler
