// Runs LLVM's own passes around ours.
#pragma once

#include "metal/compiler/analyses.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace metal::cuda {

class Optimizer {
 public:
  explicit Optimizer(llvm::TargetMachine& target) : analyses_(&target) {}

  void optimize(llvm::Module& module);
  // Simplifies code in which a step replaced calls.
  void simplify(llvm::Module& module);
  // Inlines the functions that do lane operations, and simplifies the result.
  void tidy(llvm::Module& module);

  llvm::FunctionAnalysisManager& functions() { return analyses_.functions; }

 private:
  compiler::Analyses analyses_;
};

}  // namespace metal::cuda
