#include "metal/cuda/unroll_reads.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

namespace metal::cuda {
namespace {

constexpr unsigned kUnrolled = 4;           // that run at once
constexpr unsigned kLargestIteration = 96;  // of an iteration
constexpr unsigned kFewIterations = 32;     // LLVM may unroll a loop of so many as a whole

bool reads_ahead(const llvm::Instruction& instruction) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  if (!load || !load->isSimple()) return false;
  const auto* buffer =
      llvm::dyn_cast<llvm::Argument>(llvm::getUnderlyingObject(load->getPointerOperand()));
  return buffer && buffer->hasNoAliasAttr();
}

// Barriers and atomics order an iteration after the one before.
bool is_ordered(const llvm::Instruction& instruction) {
  if (instruction.isAtomic() || instruction.isVolatile()) return true;
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call && (call->isConvergent() || call->mayWriteToMemory());
}

bool pays(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  if (!loop.isInnermost() || llvm::hasUnrollTransformation(&loop) != llvm::TM_Unspecified)
    return false;
  const unsigned iterations = evolution.getSmallConstantTripCount(&loop);
  if (iterations != 0 && iterations <= kFewIterations) return false;
  size_t count = 0;
  bool reads = false, ordered = false;
  for (const llvm::BasicBlock* block : loop.blocks()) {
    count += block->size();
    reads |= llvm::any_of(*block, reads_ahead);
    ordered |= llvm::any_of(*block, is_ordered);
  }
  return reads && !ordered && count <= kLargestIteration;
}

}  // namespace

llvm::PreservedAnalyses UnrollReadsPass::run(llvm::Function& function,
                                             llvm::FunctionAnalysisManager& analyses) {
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder()) {
    if (pays(*loop, evolution))
      llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.count", kUnrolled);
  }
  return llvm::PreservedAnalyses::all();
}

}  // namespace metal::cuda
