#include "metal/compiler/analyses.h"

#include "llvm/Analysis/MemoryDependenceAnalysis.h"
#include "metal/compiler/verify.h"

namespace metal::compiler {
namespace {

// How many instructions the analysis looks back for what a load reads. LLVM's default of 100 is
// made for scalar code. Vector code has long blocks with many accesses, in which looking further
// back rarely helps.
constexpr unsigned kLookBack = 50;

}  // namespace

Analyses::Analyses(llvm::TargetMachine* target, const llvm::PipelineTuningOptions& tuning)
    : builder(target, tuning, std::nullopt, &callbacks) {
  if (verifies_ir()) verifier.registerCallbacks(callbacks, &modules);
  // Registered first, so that it takes the place of LLVM's own registration.
  functions.registerPass([] { return llvm::MemoryDependenceAnalysis(kLookBack); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
}

}  // namespace metal::compiler
