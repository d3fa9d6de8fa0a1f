#include "metal/cuda/straight_code.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"
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

// A limit that a comparison of the position in x with something is, if it has to be `wanted`.
std::optional<Limits::Limit> find_limit(const llvm::ICmpInst& compare, bool wanted) {
  using llvm::CmpInst;
  const bool is_left = is_position(compare.getOperand(0), 0);
  if (!is_left && !is_position(compare.getOperand(1), 0)) return std::nullopt;
  auto predicate = is_left ? compare.getPredicate() : compare.getSwappedPredicate();
  if (!wanted) predicate = CmpInst::getInversePredicate(predicate);
  llvm::Value* end = compare.getOperand(is_left ? 1 : 0);
  const bool is_signed = predicate == CmpInst::ICMP_SLT || predicate == CmpInst::ICMP_SLE;
  if (predicate == CmpInst::ICMP_ULE || predicate == CmpInst::ICMP_SLE) {
    const auto* last = llvm::dyn_cast<llvm::ConstantInt>(end);
    if (!last || last->isMaxValue(is_signed)) return std::nullopt;
    end = llvm::ConstantInt::get(last->getType(), last->getValue() + 1);
  } else if (predicate != CmpInst::ICMP_ULT && predicate != CmpInst::ICMP_SLT) {
    return std::nullopt;
  }
  return Limits::Limit{end, is_signed};
}

// Appends what holds if a condition has the wanted value.
void add_limits(llvm::Value* condition, bool wanted, Limits& limits) {
  namespace Match = llvm::PatternMatch;
  llvm::Value *left, *right;
  const bool is_both =
      wanted ? Match::match(condition,
                            Match::m_LogicalAnd(Match::m_Value(left), Match::m_Value(right)))
             : Match::match(condition,
                            Match::m_LogicalOr(Match::m_Value(left), Match::m_Value(right)));
  if (is_both) {
    add_limits(left, wanted, limits);
    add_limits(right, wanted, limits);
    return;
  }
  const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(condition);
  if (const auto limit = compare ? find_limit(*compare, wanted) : std::nullopt) {
    limits.limits.push_back(*limit);
  } else {
    limits.conditions.push_back({condition, wanted});
  }
}

// Appends the first steps, after which threads may return. Returns the block that follows.
const llvm::BasicBlock* find_limits(const llvm::BasicBlock& first, StraightCode& code) {
  const llvm::BasicBlock* block = &first;
  while (true) {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
    if (!branch || !branch->isConditional()) return block;
    const bool returns = only_returns(*branch->getSuccessor(0));
    const llvm::BasicBlock* next = branch->getSuccessor(returns ? 1 : 0);
    if (!returns && !only_returns(*branch->getSuccessor(1))) return block;
    if (next->getSinglePredecessor() != block) return block;
    add_limits(branch->getCondition(), !returns, code.limits.emplace_back());
    code.steps.push_back({block});
    block = next;
  }
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
  StraightCode code;
  const llvm::BasicBlock* first = find_limits(kernel.getEntryBlock(), code);
  return find_steps(*first, code) ? std::optional(std::move(code)) : std::nullopt;
}

}  // namespace metal::cuda
