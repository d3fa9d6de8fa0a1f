#include "metal/cpu/vectorizer/control/known_counts.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "metal/compiler/checked_cast.h"

namespace metal::cpu {
namespace {

constexpr uint64_t kMostRepetitions = 64;  // of loops that may be unrolled

// How often the loop goes back to its start, if this is always the same although its expression is
// not a constant. The latch must be the only exit.
std::optional<uint64_t> repetitions(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  if (!loop.getLoopPreheader() || !loop.getLoopLatch() ||
      loop.getExitingBlock() != loop.getLoopLatch())
    return std::nullopt;
  const llvm::SCEV* count = evolution.getBackedgeTakenCount(&loop);
  if (llvm::isa<llvm::SCEVCouldNotCompute, llvm::SCEVConstant>(count)) return std::nullopt;
  const llvm::ConstantRange range = evolution.getUnsignedRange(count);
  const llvm::APInt* only = range.getSingleElement();
  if (!only || only->ugt(kMostRepetitions)) return std::nullopt;
  return only->getZExtValue();
}

void count_iterations(llvm::Loop& loop, uint64_t repetitions) {
  llvm::BasicBlock* latch = loop.getLoopLatch();
  auto* branch = checked_cast<llvm::BranchInst>(latch->getTerminator());
  llvm::IRBuilder<> b(&loop.getHeader()->front());
  llvm::PHINode* counter = b.CreatePHI(b.getInt32Ty(), 2, "counter");
  b.SetInsertPoint(branch);
  const auto last = static_cast<uint32_t>(repetitions);
  const bool repeats_if_true = branch->getSuccessor(0) == loop.getHeader();
  branch->setCondition(repeats_if_true ? b.CreateICmpNE(counter, b.getInt32(last))
                                       : b.CreateICmpEQ(counter, b.getInt32(last)));
  counter->addIncoming(b.getInt32(0), loop.getLoopPreheader());
  counter->addIncoming(b.CreateNUWAdd(counter, b.getInt32(1)), latch);
}

}  // namespace

llvm::PreservedAnalyses KnownCountsPass::run(llvm::Function& body,
                                             llvm::FunctionAnalysisManager& analyses) {
  const auto& loops = analyses.getResult<llvm::LoopAnalysis>(body);
  if (loops.empty()) return llvm::PreservedAnalyses::all();
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(body);
  bool changed = false;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    const auto count = repetitions(*loop, evolution);
    if (!count) continue;
    count_iterations(*loop, *count);
    evolution.forgetLoop(loop);
    changed = true;
  }
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace metal::cpu
