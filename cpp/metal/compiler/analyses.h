// LLVM's analyses, which passes over a module ask for. With MLX_VERIFY_IR the result of each pass
// is verified: see verify.h.
#pragma once

#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/StandardInstrumentations.h"

namespace metal::compiler {

struct Analyses {
  // Passes that depend on the device need its target.
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
