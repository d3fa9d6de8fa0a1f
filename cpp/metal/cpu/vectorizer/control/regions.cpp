#include "metal/cpu/vectorizer/control/regions.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Loop;

class RegionFinder {
 public:
  RegionFinder(llvm::Function& body, const BodyShapes& shapes)
      : body_(body),
        shapes_(shapes),
        dominators_(body),
        post_dominators_(body),
        loops_(dominators_) {}

  Regions run() {
    find_unstructured();
    while (!reach_fixpoint()) {
    }
    separate_joins();
    collect();
    return std::move(regions_);
  }

 private:
  static bool branches(const BasicBlock& block) {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    return branch && branch->isConditional();
  }

  BasicBlock* end_of(BasicBlock* branch) const {
    return post_dominators_.getNode(branch)->getIDom()->getBlock();
  }

  // Whether lanes that diverge here reconverge in the same iteration.
  bool ends_in_loop(BasicBlock* branch) const {
    const Loop* loop = loops_.getLoopFor(branch);
    BasicBlock* end = end_of(branch);
    return !loop || (end && loop->contains(end));
  }

  llvm::SmallVector<BasicBlock*> between(BasicBlock* branch, BasicBlock* end) const {
    llvm::SmallVector<BasicBlock*> found;
    llvm::DenseSet<BasicBlock*> seen = {end};
    llvm::SmallVector<BasicBlock*> work(llvm::successors(branch));
    while (!work.empty()) {
      BasicBlock* block = work.pop_back_val();
      if (!seen.insert(block).second) continue;
      found.push_back(block);
      work.append(llvm::succ_begin(block), llvm::succ_end(block));
    }
    return found;
  }

  // The branch from which all paths into the region of `branch` start. It is `branch` itself if the
  // region has no other entrance.
  BasicBlock* common_entrance(BasicBlock* branch) const {
    BasicBlock* top = branch;
    for (BasicBlock* block : between(branch, end_of(branch)))
      top = dominators_.findNearestCommonDominator(top, block);
    return top;
  }

  void find_unstructured() {
    for (BasicBlock& block : body_) {
      if (!branches(block) || !ends_in_loop(&block)) continue;
      BasicBlock* other = common_entrance(&block);
      if (other != &block) unstructured_[&block] = other;
    }
  }

  // Branches whose regions overlap without nesting must be linearised together: if one is
  // divergent, all are. True when nothing changes any more.
  bool reach_fixpoint() {
    const ShapeAnalysis analysis(body_, shapes_, post_dominators_, loops_, forced_);
    const size_t before = forced_.size();
    for (BasicBlock& block : body_) {
      if (!branches(block)) continue;
      if (!ends_in_loop(&block)) {
        for (const Loop* loop = loops_.getLoopFor(&block); loop && !loop->contains(end_of(&block));
             loop = loop->getParentLoop()) {
          if (analysis.divergent(loop)) forced_.insert(&block);
        }
        continue;
      }
      BasicBlock* other = unstructured_.lookup(&block);
      if (!other) continue;
      if (!analysis.divergent(&block) && !analysis.divergent(other) &&
          !unstructured_.contains(other))
        continue;
      forced_.insert(&block);
      forced_.insert(other);
    }
    if (forced_.size() != before) return false;
    for (BasicBlock& block : body_) {
      if (analysis.divergent(&block)) divergent_.insert(&block);
    }
    for (Loop* loop : loops_.getLoopsInPreorder()) {
      if (analysis.divergent(loop)) divergent_loops_.insert(loop);
    }
    return true;
  }

  void separate_joins() {
    llvm::SmallVector<BasicBlock*> inner_first;
    for (BasicBlock* block : llvm::post_order(&body_)) {
      if (branches(*block)) inner_first.push_back(block);
    }
    for (BasicBlock* branch : inner_first) {
      if (!ends_in_loop(branch)) continue;
      if (unstructured_.contains(branch)) continue;
      BasicBlock* end = end_of(branch);
      llvm::DenseSet<BasicBlock*> inside = {branch};
      for (BasicBlock* block : between(branch, end)) inside.insert(block);
      llvm::SmallVector<BasicBlock*> from_inside;
      bool from_outside = false;
      for (BasicBlock* before : llvm::predecessors(end)) {
        if (inside.contains(before)) {
          from_inside.push_back(before);
        } else {
          from_outside = true;
        }
      }
      if (from_outside) {
        end =
            llvm::SplitBlockPredecessors(end, from_inside, ".join", &dominators_, &loops_, nullptr,
                                         /*PreserveLCSSA=*/true);
      }
      regions_.joins[branch] = end;
    }
  }

  void collect() {
    unsigned position = 0;
    for (BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&body_))
      regions_.position[block] = position++;
    for (Loop* loop : loops_.getLoopsInPreorder())
      regions_.loop_exits[loop->getHeader()] = loop->getUniqueExitBlock();
    dominators_.recalculate(body_);
    for (auto* node : llvm::post_order(dominators_.getRootNode())) {
      BasicBlock* block = node->getBlock();
      if (divergent_.contains(block) && regions_.joins.contains(block))
        regions_.divergent.push_back({.branch = block});
      Loop* loop = loops_.getLoopFor(block);
      if (loop && loop->getHeader() == block && divergent_loops_.contains(loop)) {
        regions_.divergent.push_back(
            {.branch = nullptr,
             .loop = {loop->getLoopPreheader(), block, loop->getUniqueExitBlock()}});
      }
    }
  }

  llvm::Function& body_;
  const BodyShapes& shapes_;
  llvm::DominatorTree dominators_;
  llvm::PostDominatorTree post_dominators_;
  llvm::LoopInfo loops_;
  llvm::DenseSet<const BasicBlock*> forced_;
  // Branches whose region has another entrance, with the branch from which all paths to both start.
  llvm::DenseMap<const BasicBlock*, BasicBlock*> unstructured_;
  llvm::DenseSet<const BasicBlock*> divergent_;
  llvm::DenseSet<const Loop*> divergent_loops_;
  Regions regions_;
};

}  // namespace

Regions find_regions(llvm::Function& body, const BodyShapes& shapes) {
  return RegionFinder(body, shapes).run();
}

}  // namespace metal::cpu
