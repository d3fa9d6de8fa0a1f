#include "metal/cuda/optimizer.h"

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

namespace metal::cuda {

void Optimizer::optimize(llvm::Module& module) {
  analyses_.builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, analyses_.modules);
}

void Optimizer::tidy(llvm::Module& module) {
  llvm::FunctionPassManager simplify;
  simplify.addPass(llvm::EarlyCSEPass());
  simplify.addPass(llvm::InstCombinePass());
  simplify.addPass(llvm::SimplifyCFGPass());
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
  passes.addPass(llvm::GlobalDCEPass());
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(simplify)));
  analyses_.functions.clear();
  passes.run(module, analyses_.modules);
}

}  // namespace metal::cuda
