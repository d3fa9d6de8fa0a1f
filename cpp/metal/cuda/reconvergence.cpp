#include "metal/cuda/reconvergence.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Scalar/StructurizeCFG.h"
#include "llvm/Transforms/Utils/FixIrreducible.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LowerSwitch.h"
#include "llvm/Transforms/Utils/UnifyFunctionExitNodes.h"
#include "llvm/Transforms/Utils/UnifyLoopExits.h"
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
    compiler::Uniformity uniformity = find_warp_uniformity(kernel_);
    const compiler::Convergence convergence = find_convergence(kernel_);
    for (BasicBlock& block : kernel_) {
      if (!uniformity.info().hasDivergentTerminator(block)) continue;
      BasicBlock* join = join_of(block);
      if (join && !convergence.is_leaving(*join))
        places_.insert({&together_before(block, *join), join});
    }
    for (auto [place, join] : places_) wait(*place, *join);
  }

 private:
  BasicBlock* join_of(const BasicBlock& branch) const {
    const auto* next = post_dominators_.getNode(&branch)->getIDom();
    return next ? next->getBlock() : nullptr;
  }

  // Where all lanes are that will come to the join. Those that leave a loop come from several of
  // its iterations.
  BasicBlock& together_before(BasicBlock& branch, const BasicBlock& join) const {
    BasicBlock* place = &branch;
    for (Loop* loop = loops_.getLoopFor(&branch); loop && !loop->contains(&join);
         loop = loop->getParentLoop())
      place = loop->getLoopPreheader();
    return *place;
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
  if (!comes_apart(kernel)) return false;
  structure(kernel, analyses);
  Waits(kernel).insert();
  return true;
}

}  // namespace metal::cuda
