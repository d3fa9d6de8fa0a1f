// Runs LLVM's own passes before, between and after ours.
#pragma once

#include "metal/compiler/analyses.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace metal::cpu {

class Optimizer {
 public:
  explicit Optimizer(llvm::TargetMachine& target);

  // Before threads become lanes: leaves as little code as possible, in a form in which branches
  // that part also meet again.
  void simplify_body(llvm::Function& body);
  // Between the steps of the vectoriser. The second is for code whose branches are linearised.
  void tidy(llvm::Function& body);
  void tidy_linear(llvm::Function& body);
  void prefetch_ahead(llvm::Function& body);
  // Removes what nothing needs any more, loops included.
  void drop_dead_code(llvm::Function& body);
  // The code of one gang, before it is split at barriers.
  void simplify_wide(llvm::Function& wide);
  void split_coroutines(llvm::Module& module);
  // Vector code: nothing is vectorised once more.
  void optimize_wide(llvm::Module& module);
  // Scalar code.
  void optimize_scalar(llvm::Module& module);

  llvm::FunctionAnalysisManager& functions() { return analyses_.functions; }

 private:
  compiler::Analyses analyses_;
};

}  // namespace metal::cpu
