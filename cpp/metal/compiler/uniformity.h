// Which values of a kernel in kernel form are the same for several threads of a threadgroup.
#pragma once

#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/PassManager.h"

namespace metal::compiler {

// For which threads a value has to be the same.
enum class Among {
  Threads,    // all of a threadgroup
  SimdGroups  // those with the same index in their SIMD-group
};

// Where the analysis gives up, values differ.
class Uniformity {
 public:
  Uniformity(llvm::Function& kernel, Among among);

  Uniformity(const Uniformity&) = delete;
  Uniformity& operator=(const Uniformity&) = delete;

  llvm::UniformityInfo& info() { return *info_; }
  const llvm::DominatorTree& dominators() const { return *dominators_; }
  bool is_uniform(const llvm::Value& value) const { return info_->isUniform(&value); }

 private:
  llvm::FunctionAnalysisManager analyses_;
  llvm::DominatorTree* dominators_;
  llvm::UniformityInfo* info_;
};

}  // namespace metal::compiler
