// Finds the values of a kernel that several threads of a threadgroup share.
#pragma once

#include <functional>

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/PassManager.h"

namespace metal::compiler {

// The threads among which a value is uniform.
enum class Among {
  Threads,    // all threads of a threadgroup
  SimdGroups  // threads with the same index in their SIMD-groups
};

// In kernel form, unless the sources are given. If the analysis fails, values count as different.
class Uniformity {
 public:
  // `sources` tells which instructions are sources of divergence.
  using Sources = std::function<llvm::TargetTransformInfo(const llvm::Function&)>;
  Uniformity(llvm::Function& function, Sources sources);
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
