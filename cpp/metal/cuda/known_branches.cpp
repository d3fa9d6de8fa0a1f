#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "llvm/Transforms/Utils/ValueMapper.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cuda/lower.h"

namespace metal::cuda {
namespace {

using llvm::BasicBlock;
using llvm::BranchInst;

BranchInst* conditional_branch(BasicBlock& block) {
  auto* branch = llvm::dyn_cast<BranchInst>(block.getTerminator());
  return branch && branch->isConditional() ? branch : nullptr;
}

class BranchFolder {
 public:
  explicit BranchFolder(llvm::Function& kernel) : kernel_(kernel), dominators_(kernel) {}

  // Whether anything changed.
  bool run() {
    for (BasicBlock& block : kernel_) {
      BranchInst* branch = conditional_branch(block);
      if (branch && only_branches(block, *branch)) fold(block, *branch);
    }
    if (ways_.empty()) return false;
    for (auto [before, block, to] : ways_) redirect(*before, *block, *to);
    llvm::removeUnreachableBlocks(kernel_);
    llvm::DominatorTree dominators(kernel_);
    llvm::PromoteMemToReg(slots_, dominators);
    return true;
  }

 private:
  // A condition that is a phi of the block is another one each time that the block is entered.
  static bool only_branches(const BasicBlock& block, const BranchInst& branch) {
    const auto* condition = llvm::dyn_cast<llvm::Instruction>(branch.getCondition());
    return &branch == block.getFirstNonPHI() && (!condition || condition->getParent() != &block) &&
           branch.getSuccessor(0) != branch.getSuccessor(1);
  }

  // A way into a block, and where it leads on to.
  struct Way {
    BasicBlock *before, *block, *to;
  };

  void fold(BasicBlock& block, BranchInst& branch) {
    bool any = false;
    for (BasicBlock* before : llvm::predecessors(&block)) {
      const auto* jump = llvm::dyn_cast<BranchInst>(before->getTerminator());
      if (!jump || jump->isConditional()) continue;
      BasicBlock* to = known_target(*before, branch);
      if (!to) continue;
      ways_.push_back({before, &block, to});
      any = true;
    }
    if (any) move_values(block, branch);
  }

  // Where a branch leads to after `before`, if all paths to that come from a branch on the same
  // condition.
  BasicBlock* known_target(BasicBlock& before, const BranchInst& branch) const {
    const auto* node = dominators_.getNode(&before);
    for (node = node ? node->getIDom() : nullptr; node; node = node->getIDom()) {
      const BranchInst* known = conditional_branch(*node->getBlock());
      if (!known || known->getCondition() != branch.getCondition()) continue;
      for (unsigned i = 0; i < 2; ++i) {
        if (dominators_.dominates({node->getBlock(), known->getSuccessor(i)}, &before))
          return branch.getSuccessor(i);
      }
    }
    return nullptr;
  }

  // Values of the block go through memory until the ways lead elsewhere.
  void move_values(BasicBlock& block, BranchInst& branch) {
    demote_phis(block);
    for (BasicBlock* to : branch.successors()) demote_phis(*to);
    for (llvm::Instruction& value : llvm::make_early_inc_range(block)) {
      if (value.isUsedOutsideOfBlock(&block)) slots_.push_back(llvm::DemoteRegToStack(value));
    }
  }

  void demote_phis(BasicBlock& block) {
    while (auto* phi = llvm::dyn_cast<llvm::PHINode>(&block.front()))
      slots_.push_back(llvm::DemotePHIToStack(phi));
  }

  static void redirect(BasicBlock& before, BasicBlock& block, BasicBlock& to) {
    llvm::Instruction* end = before.getTerminator();
    llvm::ValueToValueMapTy copies;
    for (llvm::Instruction& instruction : block) {
      if (instruction.isTerminator()) break;
      llvm::Instruction* copy = instruction.clone();
      copy->insertBefore(end->getIterator());
      copies[&instruction] = copy;
      llvm::RemapInstruction(copy, copies,
                             llvm::RF_IgnoreMissingLocals | llvm::RF_NoModuleLevelChanges);
    }
    end->replaceSuccessorWith(&block, &to);
  }

  llvm::Function& kernel_;
  llvm::DominatorTree dominators_;
  llvm::SmallVector<Way> ways_;
  llvm::SmallVector<llvm::AllocaInst*> slots_;
};

}  // namespace

void fold_known_branches(llvm::Function& kernel, llvm::FunctionAnalysisManager& analyses) {
  if (BranchFolder(kernel).run()) analyses.invalidate(kernel, llvm::PreservedAnalyses::none());
}

}  // namespace metal::cuda
