#include "metal/cuda/reconvergence.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
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
#include "metal/compiler/barriers.h"
#include "metal/compiler/internal_check.h"
#include "metal/compiler/kernel_form.h"
#include "metal/cuda/lane_operations.h"

namespace metal::cuda {
namespace {

using llvm::BasicBlock;
using llvm::Function;
using llvm::Loop;
namespace Intrinsic = llvm::Intrinsic;

bool is_lane_operation(const llvm::Instruction& instruction) {
  return !operation_of(instruction).empty();
}

bool has_lane_operation(const BasicBlock& block) { return llvm::any_of(block, is_lane_operation); }

void simplify_loops(Function& kernel, llvm::FunctionAnalysisManager& analyses) {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LoopSimplifyPass());
  analyses.clear(kernel, kernel.getName());
  passes.run(kernel, analyses);
}

using Blocks = llvm::SmallSetVector<BasicBlock*, 16>;

// The blocks from which the kernel can end.
Blocks ending_blocks(Function& kernel) {
  Blocks ending;
  for (BasicBlock& block : kernel) {
    if (llvm::succ_empty(&block)) ending.insert(&block);
  }
  for (size_t i = 0; i < ending.size(); ++i)
    ending.insert(llvm::pred_begin(ending[i]), llvm::pred_end(ending[i]));
  return ending;
}

// Gives a loop a way to the kernel's end, which no lane takes.
void open_loop(const Loop& loop) {
  BasicBlock* header = loop.getHeader();
  BasicBlock* last = llvm::SplitEdge(loop.getLoopLatch(), header);
  auto* end = BasicBlock::Create(header->getContext(), "never", header->getParent());
  llvm::ReturnInst::Create(header->getContext(), end);
  llvm::IRBuilder<> b(last->getTerminator());
  llvm::Value* way = b.CreateCall(compiler::way_function(*header->getModule()), b.getInt32(0));
  b.CreateCondBr(b.CreateIsNotNull(way), end, header);
  last->getTerminator()->eraseFromParent();
}

// Lanes meet where the paths from their branches join, so each path has to lead to the kernel's
// end. Where kWay hides that a loop is always left in its first iteration, LLVM makes an endless
// loop of the others. False if a path cannot be given an end.
bool open_endless_loops(Function& kernel, llvm::FunctionAnalysisManager& analyses) {
  if (ending_blocks(kernel).size() == kernel.size()) return true;
  simplify_loops(kernel, analyses);
  for (Blocks ending = ending_blocks(kernel); ending.size() != kernel.size();
       ending = ending_blocks(kernel)) {
    const llvm::DominatorTree dominators(kernel);
    const llvm::LoopInfo loops(dominators);
    const auto preorder = loops.getLoopsInPreorder();
    const auto endless = llvm::find_if(llvm::reverse(preorder), [&](const Loop* loop) {
      return loop->hasNoExitBlocks() && loop->getLoopLatch() && !ending.contains(loop->getHeader());
    });
    if (endless == preorder.rend()) return false;
    open_loop(**endless);
  }
  return true;
}

// Branches, the inner ones first, with the joins at which their lanes must wait for each other.
using Branches = std::vector<std::pair<BasicBlock*, BasicBlock*>>;

// What a kernel's SIMD-group functions need.
class Needs {
 public:
  // In structured code, all functions ask the hardware for the active lanes. Otherwise those in
  // convergent blocks wait for all lanes.
  Needs(Function& kernel, bool is_structured)
      : kernel_(kernel), is_structured_(is_structured), convergence_(find_convergence(kernel)) {}

  Branches find_waiting() const {
    Branches found;
    for (BasicBlock* block : llvm::post_order(&kernel_)) {
      BasicBlock* join = convergence_.diverges(*block) ? convergence_.join_of(*block) : nullptr;
      if (join && asks_behind(*join)) found.push_back({block, join});
    }
    return found;
  }

  // Whether lanes are apart at a function, or those of some branch cannot wait for each other.
  bool structure() const {
    const llvm::DominatorTree dominators(kernel_);
    const auto is_entered_beside = [&](const auto& waiting) {
      return llvm::any_of(convergence_.divergent_blocks(*waiting.first), [&](BasicBlock* block) {
        return !dominators.dominates(waiting.first, block);
      });
    };
    return llvm::any_of(convergence_.reached_apart(),
                        [&](const BasicBlock* block) { return asks(*block); }) ||
           llvm::any_of(find_waiting(), is_entered_beside);
  }

 private:
  bool asks(const BasicBlock& block) const {
    return has_lane_operation(block) && (is_structured_ || !convergence_.is_convergent(block));
  }

  // Whether a function that asks for the active lanes may follow a join before one that waits for
  // all. Barriers wait for all.
  bool asks_behind(BasicBlock& join) const {
    Blocks seen;
    seen.insert(&join);
    for (size_t i = 0; i < seen.size(); ++i) {
      const auto first = llvm::find_if(*seen[i], is_lane_operation);
      if (first == seen[i]->end()) {
        seen.insert(llvm::succ_begin(seen[i]), llvm::succ_end(seen[i]));
      } else if (asks(*seen[i]) && !compiler::is_threadgroup_barrier(*first)) {
        return true;
      }
    }
    return false;
  }

  Function& kernel_;
  bool is_structured_;
  compiler::Convergence convergence_;
};

void structure(Function& kernel, llvm::FunctionAnalysisManager& analyses) {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LowerSwitchPass());
  passes.addPass(llvm::UnifyFunctionExitNodesPass());
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::FixIrreduciblePass());
  passes.addPass(llvm::UnifyLoopExitsPass());
  passes.addPass(llvm::StructurizeCFGPass());
  analyses.clear(kernel, kernel.getName());
  passes.run(kernel, analyses);
}

// Puts the waits at joins.
class Waits {
 public:
  Waits(Function& kernel, const Branches& branches) : dominators_(kernel), loops_(dominators_) {
    for (auto [branch, join] : branches) {
      BasicBlock* own = own_join(*branch, *join);
      places_.insert({together_before(*branch, *own), own});
    }
  }

  void insert() {
    for (auto [place, join] : places_) {
      llvm::IRBuilder<> b(place->getTerminator());
      llvm::Value* lanes = b.CreateIntrinsic(Intrinsic::nvvm_activemask, {}, {});
      b.SetInsertPoint(join, join->getFirstInsertionPt());
      b.CreateIntrinsic(Intrinsic::nvvm_bar_warp_sync, {}, {lanes});
    }
  }

 private:
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

  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  llvm::SmallSetVector<std::pair<BasicBlock*, BasicBlock*>, 8> places_;
};

}  // namespace

bool reconverge(Function& kernel, llvm::FunctionAnalysisManager& analyses) {
  if (llvm::none_of(kernel, has_lane_operation) || !open_endless_loops(kernel, analyses))
    return false;
  const Needs needs(kernel, /*is_structured=*/false);
  const bool structures = needs.structure();
  if (!structures && needs.find_waiting().empty()) return false;
  if (structures) structure(kernel, analyses);
  simplify_loops(kernel, analyses);
  Waits(kernel, Needs(kernel, structures).find_waiting()).insert();
  analyses.invalidate(kernel, llvm::PreservedAnalyses::none());
  return structures;
}

}  // namespace metal::cuda
