// Products of the 8x8 matrices that the lanes of a SIMD-group hold together.
#pragma once

#include "llvm/IR/PassManager.h"

namespace llvm {
class CallInst;
}

namespace metal::cpu {

class Widener;

// The call returns a lane's two results as one number of 64 bits; code that takes it apart at once
// gets them as they are.
void widen_multiply_accumulate(Widener& widener, llvm::CallInst& call);

// Where registers have room for the sums of several products, those with the same A are computed
// together, so that its columns are loaded and shuffled once.
class JoinProductsPass : public llvm::PassInfoMixin<JoinProductsPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& wide, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace metal::cpu
