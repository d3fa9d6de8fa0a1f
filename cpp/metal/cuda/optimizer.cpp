#include "metal/cuda/optimizer.h"

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "metal/compiler/unroll_private.h"
#include "metal/cuda/unroll_reads.h"

namespace metal::cuda {

namespace {

// Enough for products of 8x8 matrices by 8x4.
constexpr unsigned kMaxUnrolledInstructions = 16384;

// LLVM unrolls loops over a thread's arrays only if they are small. A larger array would be in
// memory, as the GPU's registers have no index.
llvm::FunctionPassManager mark_loops() {
  llvm::LoopPassManager rotating;
  rotating.addPass(llvm::LoopRotatePass());
  rotating.addPass(llvm::LICMPass(llvm::LICMOptions()));
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(rotating), /*UseMemorySSA=*/true));
  passes.addPass(compiler::UnrollPrivatePass(kMaxUnrolledInstructions, /*load_size=*/1));
  passes.addPass(UnrollReadsPass());
  return passes;
}

}  // namespace

void Optimizer::optimize(llvm::Module& module) {
  llvm::ModulePassManager marking;
  marking.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
  marking.addPass(llvm::createModuleToFunctionPassAdaptor(mark_loops()));
  marking.run(module, analyses_.modules);
  analyses_.builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, analyses_.modules);
}

void Optimizer::simplify(llvm::Module& module) {
  analyses_.functions.clear();
  llvm::ModulePassManager passes;
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::InstCombinePass()));
  passes.run(module, analyses_.modules);
}

void Optimizer::tidy(llvm::Module& module) {
  llvm::LoopPassManager hoisting;
  hoisting.addPass(llvm::LICMPass(llvm::LICMOptions()));
  llvm::FunctionPassManager simplify;
  simplify.addPass(llvm::EarlyCSEPass());
  simplify.addPass(llvm::InstCombinePass());
  simplify.addPass(llvm::SimplifyCFGPass());
  simplify.addPass(
      llvm::createFunctionToLoopPassAdaptor(std::move(hoisting), /*UseMemorySSA=*/true));
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
  passes.addPass(llvm::GlobalDCEPass());
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(simplify)));
  analyses_.functions.clear();
  passes.run(module, analyses_.modules);
}

}  // namespace metal::cuda
