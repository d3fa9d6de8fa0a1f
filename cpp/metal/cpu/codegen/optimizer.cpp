#include "metal/cpu/codegen/optimizer.h"

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Coroutines/CoroCleanup.h"
#include "llvm/Transforms/Coroutines/CoroEarly.h"
#include "llvm/Transforms/Coroutines/CoroSplit.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/DeadStoreElimination.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/InstSimplifyPass.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopDeletion.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SeparateConstOffsetFromGEP.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "metal/compiler/unroll_private.h"
#include "metal/cpu/vectorizer/control/known_counts.h"
#include "metal/cpu/vectorizer/matrix/lower_matrices.h"
#include "metal/cpu/vectorizer/matrix/matrix_layout.h"
#include "metal/cpu/vectorizer/memory/constant_offsets.h"
#include "metal/cpu/vectorizer/memory/interleaved_arithmetic.h"
#include "metal/cpu/vectorizer/memory/joined_indices.h"
#include "metal/cpu/vectorizer/prefetch/prefetch_ahead.h"

namespace metal::cpu {
namespace {

llvm::PipelineTuningOptions tuning() {
  llvm::PipelineTuningOptions options;
  options.LoopVectorization = options.SLPVectorization = options.LoopInterleaving = false;
  return options;
}

llvm::FunctionPassManager loop_passes() {
  llvm::LoopPassManager moving, unrolling;
  moving.addPass(llvm::LoopRotatePass());
  moving.addPass(llvm::LICMPass(llvm::LICMOptions()));
  unrolling.addPass(llvm::IndVarSimplifyPass(/*WidenIndVars=*/false));
  unrolling.addPass(llvm::LoopFullUnrollPass());
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(moving), /*UseMemorySSA=*/true));
  passes.addPass(KnownCountsPass());
  passes.addPass(compiler::UnrollPrivatePass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(unrolling)));
  return passes;
}

llvm::FunctionToLoopPassAdaptor hoisting() {
  llvm::LoopPassManager passes;
  passes.addPass(llvm::LICMPass(llvm::LICMOptions()));
  return llvm::createFunctionToLoopPassAdaptor(std::move(passes), /*UseMemorySSA=*/true);
}

llvm::FunctionPassManager wide_passes() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  // Hoists loads that every iteration makes, before other passes sink them to where few iterations
  // need them.
  passes.addPass(hoisting());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(MatrixLayoutPass());
  passes.addPass(LowerMatricesPass());
  passes.addPass(hoisting());
  passes.addPass(llvm::GVNPass());
  passes.addPass(InterleavedArithmeticPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::ADCEPass());
  return passes;
}

// Whether a value is computed again after a barrier, from its operands, instead of kept in the
// frame.
bool is_cheap(llvm::Instruction& instruction) {
  return (instruction.isCast() || instruction.isBinaryOp() ||
          llvm::isa<llvm::GetElementPtrInst, llvm::CmpInst, llvm::SelectInst>(instruction)) &&
         !instruction.getType()->isVectorTy();
}

}  // namespace

Optimizer::Optimizer(llvm::TargetMachine& target) : analyses_(&target, tuning()) {}

void Optimizer::simplify_body(llvm::Function& body) {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(loop_passes());
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::SeparateConstOffsetFromGEPPass());
  passes.addPass(llvm::GVNPass());
  passes.addPass(llvm::DSEPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(JoinedIndicesPass());
  passes.addPass(ConstantOffsetsPass());
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::ADCEPass());
  analyses_.functions.clear();
  passes.run(body, analyses_.functions);
}

void Optimizer::tidy(llvm::Function& body) {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::InstSimplifyPass());
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::ADCEPass());
  analyses_.functions.clear();
  passes.run(body, analyses_.functions);
}

// Leaves out the passes that replace a computation by the result of one in another block: that
// block may have run for other lanes.
void Optimizer::tidy_linear(llvm::Function& body) {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::InstSimplifyPass());
  passes.addPass(llvm::ADCEPass());
  analyses_.functions.clear();
  passes.run(body, analyses_.functions);
}

void Optimizer::prefetch_ahead(llvm::Function& body, const BodyShapes& shapes) {
  llvm::FunctionPassManager passes;
  passes.addPass(PrefetchAheadPass(shapes));
  analyses_.functions.clear();
  passes.run(body, analyses_.functions);
}

void Optimizer::drop_dead_code(llvm::Function& body) {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::ADCEPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LoopDeletionPass()));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::ADCEPass());
  analyses_.functions.clear();
  passes.run(body, analyses_.functions);
}

void Optimizer::simplify_wide(llvm::Function& wide) {
  analyses_.functions.clear();
  wide_passes().run(wide, analyses_.functions);
}

void Optimizer::unroll_marked(llvm::Function& wide) {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(
      llvm::LoopFullUnrollPass(/*OptLevel=*/2, /*OnlyWhenForced=*/true)));
  analyses_.functions.clear();
  passes.run(wide, analyses_.functions);
}

void Optimizer::split_coroutines(llvm::Module& module) {
  llvm::ModulePassManager passes;
  passes.addPass(llvm::CoroEarlyPass());
  passes.addPass(llvm::createModuleToPostOrderCGSCCPassAdaptor(
      llvm::CoroSplitPass(is_cheap, /*OptimizeFrame=*/true)));
  passes.addPass(llvm::CoroCleanupPass());
  analyses_.functions.clear();
  analyses_.modules.clear();
  analyses_.components.clear();
  passes.run(module, analyses_.modules);
}

void Optimizer::optimize_wide(llvm::Module& module) {
  llvm::ModulePassManager all;
  all.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
  all.addPass(llvm::GlobalDCEPass());
  all.addPass(llvm::createModuleToFunctionPassAdaptor(wide_passes()));
  analyses_.functions.clear();
  all.run(module, analyses_.modules);
}

void Optimizer::optimize_scalar(llvm::Module& module) {
  analyses_.builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, analyses_.modules);
}

}  // namespace metal::cpu
