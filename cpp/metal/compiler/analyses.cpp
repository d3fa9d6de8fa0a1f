#include "metal/compiler/analyses.h"

namespace metal::compiler {

Analyses::Analyses(llvm::TargetMachine* target, const llvm::PipelineTuningOptions& tuning)
    : builder(target, tuning) {
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
}

}  // namespace metal::compiler
