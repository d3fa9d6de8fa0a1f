// LLVM's analyses of a module, as its passes ask for them.
#pragma once

#include "llvm/Passes/PassBuilder.h"

namespace metal::compiler {

struct Analyses {
  // Passes that depend on the device need its target.
  explicit Analyses(llvm::TargetMachine* target = nullptr,
                    const llvm::PipelineTuningOptions& tuning = {});

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
};

}  // namespace metal::compiler
