// Joins the quotient and the remainder of an index where both index an array.
#pragma once

#include "llvm/IR/PassManager.h"

namespace metal::cpu {

// `tile[i / 18][i % 18]` of an array with rows of 18 elements is the i-th element behind the first
// one. So neighbouring threads access neighbouring elements, also where a row ends.
class JoinedIndicesPass : public llvm::PassInfoMixin<JoinedIndicesPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& body, llvm::FunctionAnalysisManager&);
};

}  // namespace metal::cpu
