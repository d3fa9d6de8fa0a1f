// LLVM's analyses, as passes over a module use them. With MLX_VERIFY_IR set, the result of each
// pass is verified: see verify.h.
#pragma once

#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/StandardInstrumentations.h"

namespace metal::compiler {

struct Analyses {
  // Passes that depend on the device need its target machine.
  explicit Analyses(llvm::TargetMachine* target = nullptr,
                    const llvm::PipelineTuningOptions& tuning = {});

  Analyses(const Analyses&) = delete;
  Analyses& operator=(const Analyses&) = delete;

  llvm::PassInstrumentationCallbacks callbacks;
  llvm::VerifyInstrumentation verifier{/*DebugLogging=*/false};
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
};

}  // namespace metal::compiler
