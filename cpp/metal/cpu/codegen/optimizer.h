// Runs LLVM's own passes before, between and after ours.
#pragma once

#include "metal/compiler/analyses.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace metal::cpu {

struct BodyShapes;

class Optimizer {
 public:
  explicit Optimizer(llvm::TargetMachine& target);

  // Before threads become lanes: leaves little code, in a form in which divergent branches
  // reconverge.
  void simplify_body(llvm::Function& body);
  // Between the steps of the vectoriser. tidy_linear is for linearised code.
  void tidy(llvm::Function& body);
  void tidy_linear(llvm::Function& body);
  void prefetch_ahead(llvm::Function& body, const BodyShapes& shapes);
  // Removes unused code, loops included.
  void drop_dead_code(llvm::Function& body);
  // Simplifies the code of one gang before it is split at barriers.
  void simplify_wide(llvm::Function& wide);
  // Unrolls the loops whose metadata demands it.
  void unroll_marked(llvm::Function& wide);
  void split_coroutines(llvm::Module& module);
  // Optimises vector code without LLVM's own vectorisers.
  void optimize_wide(llvm::Module& module);
  // Optimises scalar code.
  void optimize_scalar(llvm::Module& module);

  llvm::FunctionAnalysisManager& functions() { return analyses_.functions; }

 private:
  compiler::Analyses analyses_;
};

}  // namespace metal::cpu
