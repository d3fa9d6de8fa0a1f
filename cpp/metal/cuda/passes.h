// Runs the steps that passes.def lists.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "metal/compiler/compiler.h"
#include "metal/cuda/kernel_interface.h"
#include "metal/cuda/optimizer.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace metal::cuda {

// What the steps need besides the code, and their results.
struct PassContext {
  PassContext(const FunctionInfo& function, llvm::TargetMachine& target,
              const LaunchForm& form = {})
      : function(function), form(form), target(target), optimizer(target) {}

  const FunctionInfo& function;
  LaunchForm form;
  llvm::TargetMachine& target;
  Optimizer optimizer;
  KernelInterface interface;  // the result of "nvptx-entry"
};

void run_passes(llvm::Module& code, PassContext& c);

// Runs one step. False if none has this name.
bool run_pass(llvm::StringRef name, llvm::Module& code, PassContext& c);

}  // namespace metal::cuda
