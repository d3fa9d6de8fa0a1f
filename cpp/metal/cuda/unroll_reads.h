// Unrolls loops that read memory, so that reads of several iterations are on their way at once.
#pragma once

#include "llvm/IR/PassManager.h"

namespace metal::cuda {

// Marks loops for LLVM's unrolling, which leaves out loops with more than a few instructions: those
// that write nothing, and those that read buffers which are claimed to be apart from all that the
// kernel writes (LaunchForm::apart). Such reads may come before the writes of earlier iterations. A
// loop in which lanes exchange values is only marked if all lanes run the same number of
// iterations, and nothing is left of it.
class UnrollReadsPass : public llvm::PassInfoMixin<UnrollReadsPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace metal::cuda
