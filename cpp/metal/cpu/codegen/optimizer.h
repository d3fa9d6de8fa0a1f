// LLVM's own passes around ours.
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

  // Before threads become lanes: as little code as possible, in a form in which ways that part also
  // meet again.
  void simplify_body(llvm::Function& body);
  // Between the steps of the vectoriser; the second where lanes that part share code.
  void tidy(llvm::Function& body);
  void tidy_linear(llvm::Function& body);
  void prefetch_strides(llvm::Function& body);
  // What nothing needs any more, loops included.
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
