#include "metal/cuda/reconvergence.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Scalar/StructurizeCFG.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/FixIrreducible.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LowerSwitch.h"
#include "llvm/Transforms/Utils/UnifyFunctionExitNodes.h"
#include "llvm/Transforms/Utils/UnifyLoopExits.h"
#include "metal/compiler/internal_check.h"
#include "metal/cuda/lane_operations.h"
#include "metal/cuda/warp_uniformity.h"

namespace metal::cuda {
namespace {

using llvm::BasicBlock;
using llvm::Function;
using llvm::Loop;
namespace Intrinsic = llvm::Intrinsic;

bool has_lane_operation(const BasicBlock& block) {
  return llvm::any_of(block, [](const llvm::Instruction& instruction) {
    return !operation_of(instruction).empty();
  });
}

// Lanes in an endless loop never reconverge.
bool has_endless_loop(Function& kernel) {
  llvm::SmallSetVector<BasicBlock*, 16> ending;
  for (BasicBlock& block : kernel) {
    if (llvm::succ_empty(&block)) ending.insert(&block);
  }
  for (size_t i = 0; i < ending.size(); ++i)
    ending.insert(llvm::pred_begin(ending[i]), llvm::pred_end(ending[i]));
  return ending.size() != kernel.size();
}

bool comes_apart(Function& kernel) {
  const compiler::Convergence convergence = find_convergence(kernel);
  return llvm::any_of(kernel, [&](const BasicBlock& block) {
    return has_lane_operation(block) && !convergence.is_convergent(block) &&
           convergence.is_reached_apart(block);
  });
}

void structure(Function& kernel, llvm::FunctionAnalysisManager& analyses) {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LowerSwitchPass());
  passes.addPass(llvm::UnifyFunctionExitNodesPass());
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::FixIrreduciblePass());
  passes.addPass(llvm::UnifyLoopExitsPass());
  passes.addPass(llvm::StructurizeCFGPass());
  passes.addPass(llvm::LoopSimplifyPass());
  analyses.clear(kernel, kernel.getName());
  analyses.invalidate(kernel, passes.run(kernel, analyses));
}

// Puts the waits into structured control flow.
class Waits {
 public:
  explicit Waits(Function& kernel)
      : kernel_(kernel), dominators_(kernel), post_dominators_(kernel), loops_(dominators_) {}

  void insert() {
    for (auto [branch, join] : find_joins()) {
      BasicBlock* own = own_join(*branch, *join);
      places_.insert({together_before(*branch, *own), own});
    }
    for (auto [place, join] : places_) wait(*place, *join);
  }

 private:
  // Divergent branches, the inner ones first, and where their lanes are together again, unless
  // nothing follows there for which they must be.
  std::vector<std::pair<BasicBlock*, BasicBlock*>> find_joins() {
    compiler::Uniformity uniformity = find_warp_uniformity(kernel_);
    const compiler::Convergence convergence = find_convergence(kernel_);
    std::vector<std::pair<BasicBlock*, BasicBlock*>> found;
    for (BasicBlock* block : llvm::post_order(&kernel_)) {
      if (!uniformity.info().hasDivergentTerminator(*block)) continue;
      const auto* next = post_dominators_.getNode(block)->getIDom();
      BasicBlock* join = next ? next->getBlock() : nullptr;
      if (join && !convergence.is_leaving(*join)) found.push_back({block, join});
    }
    return found;
  }

  // The lanes of other branches may come to a join, too. Those of `branch` meet in front of it.
  BasicBlock* own_join(BasicBlock& branch, BasicBlock& join) {
    llvm::SetVector<BasicBlock*> between;
    between.insert(&branch);
    for (size_t i = 0; i < between.size(); ++i) {
      for (BasicBlock* next : llvm::successors(between[i])) {
        if (next != &join) between.insert(next);
      }
    }
    llvm::SmallVector<BasicBlock*> from_branch;
    for (BasicBlock* before : llvm::predecessors(&join)) {
      if (between.contains(before)) from_branch.push_back(before);
    }
    if (from_branch.size() == llvm::pred_size(&join)) return &join;
    return llvm::SplitBlockPredecessors(&join, from_branch, ".join", &dominators_, &loops_);
  }

  // Where all lanes are that will come to the join. Those that leave a loop come from several of
  // its iterations.
  BasicBlock* together_before(BasicBlock& branch, const BasicBlock& join) const {
    BasicBlock* place = &branch;
    for (Loop* loop = loops_.getLoopFor(&branch); loop && !loop->contains(&join);
         loop = loop->getParentLoop())
      place = loop->getLoopPreheader();
    internal_check(place && dominators_.dominates(place, &join), "lanes join that did not part");
    return place;
  }

  void wait(BasicBlock& place, BasicBlock& join) const {
    llvm::IRBuilder<> b(place.getTerminator());
    llvm::Value* lanes = b.CreateIntrinsic(Intrinsic::nvvm_activemask, {}, {});
    b.SetInsertPoint(&join, join.getFirstInsertionPt());
    b.CreateIntrinsic(Intrinsic::nvvm_bar_warp_sync, {}, {lanes});
  }

  Function& kernel_;
  llvm::DominatorTree dominators_;
  llvm::PostDominatorTree post_dominators_;
  llvm::LoopInfo loops_;
  llvm::SmallSetVector<std::pair<BasicBlock*, BasicBlock*>, 8> places_;
};

}  // namespace

bool reconverge(Function& kernel, llvm::FunctionAnalysisManager& analyses) {
  if (!comes_apart(kernel) || has_endless_loop(kernel)) return false;
  structure(kernel, analyses);
  Waits(kernel).insert();
  return true;
}

}  // namespace metal::cuda
