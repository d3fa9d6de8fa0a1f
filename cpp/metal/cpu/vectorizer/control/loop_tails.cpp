#include "metal/cpu/vectorizer/control/loop_tails.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/control/comparisons.h"
#include "metal/cpu/vectorizer/control/marker_calls.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::BranchInst;
using llvm::Instruction;
using llvm::Loop;
using llvm::Value;

constexpr size_t kLongestLoop = 100;  // instructions that are worth a copy

// Atomic operations run lane by lane, which takes longer than any masks.
bool is_worth_a_copy(const Loop& loop) {
  size_t size = 0;
  for (const BasicBlock* block : loop.blocks()) {
    size += block->size();
    for (const Instruction& instruction : *block) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call && (call->isConvergent() || call->cannotDuplicate())) return false;
      if (instruction.isAtomic()) return false;
    }
  }
  return size <= kLongestLoop;
}

// Whether all ways out of the loop are its last branch, which compares an index with a bound.
bool leaves_at_bound(const Loop& loop, const ShapeAnalysis& shapes) {
  const BasicBlock* latch = loop.getLoopLatch();
  if (!loop.isLoopSimplifyForm() || loop.getExitingBlock() != latch || !loop.getExitBlock())
    return false;
  const auto* branch = llvm::dyn_cast<BranchInst>(latch->getTerminator());
  const auto* compare = branch ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition()) : nullptr;
  if (!compare || !order_of(*compare)) return false;
  const Value *a = compare->getOperand(0), *b = compare->getOperand(1);
  return compares_index(shapes, a, b) || compares_index(shapes, b, a);
}

class TailSeparator {
 public:
  TailSeparator(Loop& loop, llvm::LoopInfo& loops, llvm::DominatorTree& dominators)
      : loop_(loop), loops_(loops), dominators_(dominators) {}

  void run() {
    BasicBlock* before = loop_.getLoopPreheader();
    start_ = llvm::SplitBlock(before, before->getTerminator(), &dominators_, &loops_);
    llvm::SmallVector<BasicBlock*> blocks;
    Loop* whole = llvm::cloneLoopWithPreheader(start_, before, &loop_, values_, ".whole", &loops_,
                                               &dominators_, blocks);
    llvm::remapInstructionsInBlocks(blocks, values_);
    before->getTerminator()->setSuccessor(0, whole->getLoopPreheader());
    leave_together(*whole->getLoopLatch());
  }

 private:
  // The lanes leave the copy together, and part behind it.
  void leave_together(BasicBlock& latch) {
    auto* branch = checked_cast<BranchInst>(latch.getTerminator());
    BasicBlock *exit = loop_.getExitBlock(), *original = loop_.getLoopLatch();
    const bool stays_if = branch->getSuccessor(1) == exit;
    BasicBlock* header = branch->getSuccessor(stays_if ? 0 : 1);
    BasicBlock* parting =
        BasicBlock::Create(latch.getContext(), "parting", latch.getParent(), start_);
    llvm::IRBuilder<> b(branch);
    Value* stays = stays_if ? branch->getCondition() : b.CreateNot(branch->getCondition());
    const auto all = declare_marker(*latch.getModule(), kAllLanes, b.getInt1Ty(), true);
    b.CreateCondBr(b.CreateCall(all, {stays}), header, parting);
    branch->eraseFromParent();
    b.SetInsertPoint(parting);
    b.CreateCondBr(stays, start_, exit);
    for (llvm::PHINode& phi : loop_.getHeader()->phis())
      phi.setIncomingValueForBlock(start_, copy_of(phi.getIncomingValueForBlock(original)));
    for (llvm::PHINode& phi : exit->phis())
      phi.addIncoming(copy_of(phi.getIncomingValueForBlock(original)), parting);
  }

  Value* copy_of(Value* value) const {
    Value* copy = values_.lookup(value);
    return copy ? copy : value;
  }

  Loop& loop_;
  llvm::LoopInfo& loops_;
  llvm::DominatorTree& dominators_;
  BasicBlock* start_ = nullptr;  // the block before the loop, which lanes enter behind the copy
  llvm::ValueToValueMapTy values_;
};

llvm::SmallVector<Loop*> find_loops(llvm::Function& body, const BodyShapes& shapes,
                                    const llvm::LoopInfo& loops) {
  const llvm::PostDominatorTree post_dominators(body);
  const ShapeAnalysis analysis(body, shapes, post_dominators, loops);
  llvm::SmallVector<Loop*> found;
  for (Loop* loop : loops.getLoopsInPreorder()) {
    if (loop->isInnermost() && analysis.divergent(loop) && leaves_at_bound(*loop, analysis) &&
        is_worth_a_copy(*loop))
      found.push_back(loop);
  }
  return found;
}

}  // namespace

void separate_loop_tails(llvm::Function& body, const BodyShapes& shapes) {
  llvm::DominatorTree dominators(body);
  llvm::LoopInfo loops(dominators);
  if (loops.empty()) return;
  for (Loop* loop : loops.getTopLevelLoops()) {
    llvm::simplifyLoop(loop, &dominators, &loops, nullptr, nullptr, nullptr, false);
    llvm::formLCSSARecursively(*loop, dominators, &loops, nullptr);
  }
  for (Loop* loop : find_loops(body, shapes, loops)) TailSeparator(*loop, loops, dominators).run();
}

}  // namespace metal::cpu
