#include "metal/compiler/analyses.h"

#include "llvm/Analysis/MemoryDependenceAnalysis.h"
#include "metal/compiler/verify.h"

namespace metal::compiler {
namespace {

// Instructions that are searched for what a load reads. LLVM's 100 are for scalar code: vector code
// has long blocks that are full of accesses, and little is found that far back.
constexpr unsigned kLookBack = 50;

}  // namespace

Analyses::Analyses(llvm::TargetMachine* target, const llvm::PipelineTuningOptions& tuning)
    : builder(target, tuning, std::nullopt, &callbacks) {
  if (verifies_ir()) verifier.registerCallbacks(callbacks, &modules);
  // Before the usual ones, which it replaces one of.
  functions.registerPass([] { return llvm::MemoryDependenceAnalysis(kLookBack); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
}

}  // namespace metal::compiler
