#include "metal/cpu/checks/barriers.h"

#include <vector>

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "metal/compiler/kernel_form.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;

// All branches on which it depends, directly or through others, whether one of the blocks is run.
llvm::SetVector<BasicBlock*> find_deciding(llvm::Function& kernel,
                                           const std::vector<Barrier>& barriers) {
  llvm::PostDominatorTree after(kernel);
  std::vector<BasicBlock*> wanted;
  llvm::SmallPtrSet<BasicBlock*, 16> seen;
  auto want = [&](BasicBlock* block) {
    if (seen.insert(block).second) wanted.push_back(block);
  };
  for (const Barrier& barrier : barriers) want(barrier.call->getParent());
  llvm::SetVector<BasicBlock*> deciding;
  for (size_t i = 0; i < wanted.size(); ++i) {
    BasicBlock* block = wanted[i];
    for (BasicBlock& branch : kernel) {
      if (branch.getTerminator()->getNumSuccessors() < 2 || after.properlyDominates(block, &branch))
        continue;
      for (BasicBlock* next : llvm::successors(&branch)) {
        if (!after.dominates(block, next)) continue;
        deciding.insert(&branch);
        want(&branch);
      }
    }
  }
  return deciding;
}

// Nothing is left to do but to return.
bool only_returns(const BasicBlock& block) {
  return llvm::isa<llvm::ReturnInst>(*block.getFirstNonPHIOrDbgOrLifetime());
}

// Whether the paths that diverge here reconverge before the end of the kernel.
bool reconverges(const llvm::PostDominatorTree& after, const BasicBlock* block) {
  const auto* node = after.getNode(block);
  const auto* next = node ? node->getIDom() : nullptr;
  return next && next->getBlock() && !only_returns(*next->getBlock());
}

// The value that a branch depends on.
llvm::Value* condition_of(llvm::Instruction& terminator) {
  if (auto* branch = llvm::dyn_cast<llvm::BranchInst>(&terminator)) return branch->getCondition();
  if (auto* choice = llvm::dyn_cast<llvm::SwitchInst>(&terminator)) return choice->getCondition();
  return nullptr;
}

void announce_branches(CheckBuilder& builder, const llvm::SetVector<BasicBlock*>& deciding) {
  const llvm::PostDominatorTree after(builder.kernel());
  uint32_t number = 0;
  for (BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&builder.kernel())) {
    llvm::Instruction& terminator = *block->getTerminator();
    llvm::Value* condition = deciding.contains(block) ? condition_of(terminator) : nullptr;
    if (!condition) continue;
    llvm::IRBuilder<> b(&terminator);
    const auto* test = llvm::dyn_cast<llvm::Instruction>(condition);
    const bool located = test && test->getDebugLoc() && test->getDebugLoc().getLine();
    builder.call(b, "metal_cpu_check_branch", b.getVoidTy(),
                 {builder.site(located ? test->getDebugLoc() : terminator.getDebugLoc()),
                  b.getInt32(number++), b.CreateZExtOrTrunc(condition, b.getInt64Ty()),
                  b.getInt1(reconverges(after, block))});
  }
}

}  // namespace

bool Barrier::of_lanes() const {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(scope);
  return constant && constant->isZero();
}

std::vector<Barrier> find_barriers(llvm::Function& kernel) {
  std::vector<Barrier> found;
  llvm::IRBuilder<> b(kernel.getContext());
  for (llvm::Instruction& instruction : llvm::instructions(kernel)) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
    llvm::StringRef name = callee ? callee->getName() : "";
    if (!name.consume_front(compiler::kRuntimePrefix) || call->getMetadata(compiler::kOrderBarrier))
      continue;
    if (name == "barrier") {
      Barrier found_barrier{call, "threadgroup_barrier", call->getArgOperand(0), /*orders=*/true};
      if (found_barrier.of_lanes()) found_barrier.name = "simdgroup_barrier";
      found.push_back(found_barrier);
    } else if (name.starts_with("simdgroup_multiply_accumulate")) {
      found.push_back({call, "simdgroup_multiply_accumulate", b.getInt32(0), /*orders=*/false});
    }
  }
  return found;
}

void check_barriers(CheckBuilder& builder) {
  const std::vector<Barrier> barriers = find_barriers(builder.kernel());
  announce_branches(builder, find_deciding(builder.kernel(), barriers));
  for (const Barrier& barrier : barriers) {
    llvm::IRBuilder<> b(barrier.call);
    builder.call(b, "metal_cpu_check_barrier", b.getVoidTy(),
                 {builder.site(barrier.call->getDebugLoc(), barrier.name), barrier.scope,
                  b.getInt1(barrier.orders)});
  }
}

}  // namespace metal::cpu
