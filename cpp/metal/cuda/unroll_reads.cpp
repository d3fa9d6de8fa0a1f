#include "metal/cuda/unroll_reads.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "metal/cuda/strided_loop.h"

namespace metal::cuda {
namespace {

constexpr unsigned kUnrolled = 4;           // that run at once
constexpr unsigned kLargestIteration = 96;  // of an iteration
constexpr unsigned kFewIterations = 32;     // LLVM may unroll a loop of so many as a whole

// Of memory that nobody writes while the kernel runs.
bool reads_constant(const llvm::LoadInst& load) {
  const auto* buffer =
      llvm::dyn_cast<llvm::Argument>(llvm::getUnderlyingObject(load.getPointerOperand()));
  return buffer && buffer->hasNoAliasAttr();
}

// Barriers and atomics order an iteration after the one before.
bool is_ordered(const llvm::Instruction& instruction) {
  if (instruction.isAtomic() || instruction.isVolatile()) return true;
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call && (call->isConvergent() || call->mayWriteToMemory());
}

// Whether reads of an iteration need not wait for the iterations before.
bool reads_ahead(const llvm::Loop& loop) {
  size_t count = 0;
  bool reads = false, reads_constants = false, writes = false;
  for (const llvm::BasicBlock* block : loop.blocks()) {
    count += block->size();
    for (const llvm::Instruction& instruction : *block) {
      if (is_ordered(instruction)) return false;
      writes |= instruction.mayWriteToMemory();
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      reads |= load != nullptr;
      reads_constants |= load && reads_constant(*load);
    }
  }
  return count <= kLargestIteration && (reads_constants || (reads && !writes));
}

bool may_be_unrolled(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  if (!loop.isInnermost() || llvm::hasUnrollTransformation(&loop) != llvm::TM_Unspecified)
    return false;
  const unsigned iterations = evolution.getSmallConstantTripCount(&loop);
  return (iterations == 0 || iterations > kFewIterations) && reads_ahead(loop);
}

void mark(llvm::Loop& loop) {
  llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.count", kUnrolled);
}

}  // namespace

llvm::PreservedAnalyses UnrollReadsPass::run(llvm::Function& function,
                                             llvm::FunctionAnalysisManager& analyses) {
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  llvm::SmallVector<StridedLoop> strided;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (!may_be_unrolled(*loop, evolution)) continue;
    const auto found = evolution.hasLoopInvariantBackedgeTakenCount(loop)
                           ? std::nullopt
                           : find_strided_loop(*loop);
    found ? strided.push_back(*found) : mark(*loop);
  }
  for (const StridedLoop& found : strided) {
    llvm::formLCSSA(*found.loop, dominators, &loops, &evolution);
    mark(*split_off_wrapping(found, loops, dominators));
  }
  return strided.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

}  // namespace metal::cuda
