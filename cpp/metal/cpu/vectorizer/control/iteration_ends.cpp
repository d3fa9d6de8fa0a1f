#include "metal/cpu/vectorizer/control/iteration_ends.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "metal/cpu/markers.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Loop;

// Whether a path leads from `branch` to `to` without `end`.
bool reaches_before(BasicBlock* branch, const BasicBlock* to, BasicBlock* end) {
  llvm::SmallPtrSet<BasicBlock*, 16> seen = {end};
  llvm::SmallVector<BasicBlock*> work(llvm::successors(branch));
  while (!work.empty()) {
    BasicBlock* block = work.pop_back_val();
    if (!seen.insert(block).second) continue;
    if (block == to) return true;
    work.append(llvm::succ_begin(block), llvm::succ_end(block));
  }
  return false;
}

// Whether the nearest post-dominator of some branch is reached by way of the next iteration.
bool reconverges_later(const Loop& loop, const llvm::PostDominatorTree& post_dominators) {
  return llvm::any_of(loop.blocks(), [&](BasicBlock* block) {
    if (llvm::succ_size(block) < 2) return false;
    const auto* next = post_dominators.getNode(block)->getIDom();
    BasicBlock* end = next ? next->getBlock() : nullptr;
    return end && loop.contains(end) && end != loop.getHeader() &&
           reaches_before(block, loop.getHeader(), end);
  });
}

// No value of the exit block's phis matters there.
void add_exit(const Loop& loop) {
  BasicBlock* latch = loop.getLoopLatch();
  BasicBlock* header = loop.getHeader();
  BasicBlock* exit = loop.getUniqueExitBlock();
  llvm::Function& body = *header->getParent();
  BasicBlock* end = BasicBlock::Create(body.getContext(), "iteration.end", &body);
  end->moveAfter(latch);
  latch->getTerminator()->replaceSuccessorWith(header, end);
  header->replacePhiUsesWith(latch, end);
  llvm::IRBuilder<> b(end);
  auto never = body.getParent()->getOrInsertFunction(
      kNever, llvm::FunctionType::get(b.getInt1Ty(), /*isVarArg=*/false));
  b.CreateCondBr(b.CreateCall(never), exit, header);
  for (llvm::PHINode& phi : exit->phis())
    phi.addIncoming(llvm::PoisonValue::get(phi.getType()), end);
}

bool add_one_exit(llvm::Function& body, llvm::FunctionAnalysisManager& analyses) {
  const auto& post_dominators = analyses.getResult<llvm::PostDominatorTreeAnalysis>(body);
  for (const Loop* loop : analyses.getResult<llvm::LoopAnalysis>(body).getLoopsInPreorder()) {
    if (!reconverges_later(*loop, post_dominators)) continue;
    add_exit(*loop);
    return true;
  }
  return false;
}

}  // namespace

llvm::PreservedAnalyses IterationEndsPass::run(llvm::Function& body,
                                               llvm::FunctionAnalysisManager& analyses) {
  bool changed = false;
  while (add_one_exit(body, analyses)) {
    analyses.invalidate(body, llvm::PreservedAnalyses::none());
    changed = true;
  }
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace metal::cpu
