#include "metal/cuda/straight_code.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "metal/compiler/builtin_calls.h"

namespace metal::cuda {
namespace {

bool only_returns(const llvm::BasicBlock& block) {
  return llvm::isa<llvm::ReturnInst>(block.front());
}

// Finds the blocks between two that all threads run. None is entered from elsewhere, or has a loop.
bool find_branches(const llvm::BasicBlock& from, const llvm::BasicBlock& to, Step& step) {
  llvm::SmallPtrSet<const llvm::BasicBlock*, 8> done{&to};
  for (const llvm::BasicBlock* start : llvm::successors(&from)) {
    llvm::SmallVector<const llvm::BasicBlock*, 4> found;
    for (const llvm::BasicBlock* block : llvm::post_order_ext(start, done)) found.push_back(block);
    // What is found later may lead to what was found before, but not the reverse.
    step.branches.insert(step.branches.begin(), found.rbegin(), found.rend());
  }
  llvm::SmallPtrSet<const llvm::BasicBlock*, 8> before{&from};
  const auto leads_from_before = [&](const llvm::BasicBlock* block) {
    return llvm::all_of(llvm::predecessors(block),
                        [&](const llvm::BasicBlock* source) { return before.contains(source); });
  };
  for (const llvm::BasicBlock* block : step.branches) {
    if (!leads_from_before(block)) return false;
    before.insert(block);
  }
  return leads_from_before(&to);
}

// Appends the steps from a block on, up to a return.
bool find_steps(const llvm::BasicBlock& first, StraightCode& code) {
  std::optional<llvm::PostDominatorTree> ends;
  const llvm::BasicBlock* block = &first;
  while (true) {
    Step& step = code.steps.emplace_back(Step{block});
    if (llvm::isa<llvm::ReturnInst>(block->getTerminator())) return true;
    const llvm::BasicBlock* next = block->getSingleSuccessor();
    if (next && only_returns(*next)) return true;
    if (!ends) ends.emplace(const_cast<llvm::Function&>(*block->getParent()));
    const auto* end = ends->getNode(block) ? ends->getNode(block)->getIDom() : nullptr;
    next = end ? end->getBlock() : nullptr;
    if (!next || !find_branches(*block, *next, step)) return false;
    block = next;
  }
}

}  // namespace

bool is_position(const llvm::Value* value, unsigned component) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(value);
  const auto found = call ? compiler::as_builtin_call(*call) : std::nullopt;
  return found && found->builtin == compiler::Builtin::ThreadPositionInGrid &&
         found->component == component;
}

std::optional<StraightCode> find_straight_code(const llvm::Function& kernel) {
  const llvm::BasicBlock& first = kernel.getEntryBlock();
  StraightCode code;
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(first.getTerminator());
  const auto* compare = branch && branch->isConditional()
                            ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition())
                            : nullptr;
  const bool returns = compare && only_returns(*branch->getSuccessor(0));
  if (!returns && !(compare && only_returns(*branch->getSuccessor(1))))
    return find_steps(first, code) ? std::optional(std::move(code)) : std::nullopt;
  const auto predicate = returns ? compare->getInversePredicate() : compare->getPredicate();
  code.is_signed = predicate == llvm::CmpInst::ICMP_SLT;
  if (!is_position(compare->getOperand(0), 0) ||
      (predicate != llvm::CmpInst::ICMP_ULT && !code.is_signed))
    return std::nullopt;
  code.limit = compare->getOperand(1);
  code.steps.push_back({&first});
  const bool is_straight = find_steps(*branch->getSuccessor(returns ? 1 : 0), code);
  return is_straight ? std::optional(std::move(code)) : std::nullopt;
}

}  // namespace metal::cuda
