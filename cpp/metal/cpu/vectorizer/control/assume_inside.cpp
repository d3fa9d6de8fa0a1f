#include "metal/cpu/vectorizer/control/assume_inside.h"

#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/codegen/optimizer.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/control/comparisons.h"
#include "metal/cpu/vectorizer/control/edge_indices.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"
#include "metal/cpu/vectorizer/speculation.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::ICmpInst;
using llvm::Instruction;
using llvm::Value;

// Whether a copy of the instruction has the same result: a copy of a freeze need not.
bool is_repeatable(const Instruction& instruction) {
  return !llvm::isa<llvm::PHINode, llvm::AllocaInst, llvm::FreezeInst>(instruction) &&
         is_speculatable(instruction);
}

// Copies what values are computed from to the start of the body, just before it has effects.
class Start {
 public:
  explicit Start(BasicBlock& entry) {
    place_ = entry.getTerminator();
    for (Instruction& instruction : entry) {
      if (!has_effects(instruction)) continue;
      place_ = &instruction;
      break;
    }
  }

  bool can_copy(const Value* value, unsigned depth = 0) const {
    if (is_there(value)) return !llvm::isa<llvm::UndefValue>(value);
    const auto* instruction = llvm::dyn_cast<Instruction>(value);
    return instruction && depth < kDeepest && is_repeatable(*instruction) &&
           llvm::all_of(
               instruction->operands(),
               [&](const llvm::Use& operand) { return can_copy(operand.get(), depth + 1); });
  }

  Value* copy(Value* value) {
    if (is_there(value)) return value;
    Value*& known = copies_[value];
    if (known) return known;
    Instruction* made = checked_cast<Instruction>(value)->clone();
    for (llvm::Use& operand : made->operands()) operand.set(copy(operand.get()));
    forget_guards(*made);
    made->insertBefore(place_);
    return copies_[value] = made;
  }

  // The gang bails out unless the comparison is true in all lanes. It does so before it accesses
  // memory at addresses that `replaced`, which is no longer computed, kept inside: an instruction
  // in front of the first effect may be used by loads there.
  void assume(Instruction& replaced, ICmpInst::Predicate predicate, Value* a, Value* b) {
    const bool is_early = is_there(&replaced);
    Value* first = is_early ? a : copy(a);
    Value* second = is_early ? b : copy(b);
    llvm::IRBuilder<> builder(is_early ? &replaced : place_);
    bail_out_unless(builder, builder.CreateICmp(predicate, first, second));
  }

 private:
  static constexpr unsigned kDeepest = 12;

  bool is_there(const Value* value) const {
    const auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (!instruction) return true;
    return instruction->getParent() == place_->getParent() && instruction->comesBefore(place_);
  }

  Instruction* place_;
  llvm::DenseMap<Value*, Value*> copies_;
};

// The predicate with which the smaller or larger of two integers is the first one.
std::optional<ICmpInst::Predicate> predicate_of_first(const Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&instruction);
  if (!call || call->getType()->isVectorTy()) return std::nullopt;
  return ICmpInst::getNonStrictPredicate(call->getPredicate());
}

// Whether integers that are computed from the value are compared or decide where memory is
// accessed.
bool decides(const Value& value, unsigned depth = 0) {
  return llvm::any_of(value.users(), [&](const llvm::User* user) {
    if (llvm::isa<llvm::GetElementPtrInst, ICmpInst>(user)) return true;
    const bool goes_on =
        llvm::isa<llvm::CastInst, llvm::BinaryOperator, llvm::SelectInst, llvm::IntrinsicInst>(
            user) &&
        user->getType()->isIntegerTy();
    return goes_on && depth < 6 && decides(*user, depth + 1);
  });
}

// Under one guard, neighbours need no more than a mask. The elements of a window, as of a stencil,
// have guards of their own: so many of them are worth a speculative body.
constexpr size_t kWindow = 4;

class Inside {
 public:
  Inside(llvm::Function& body, const BodyShapes& shapes)
      : body_(body),
        dominators_(body),
        post_dominators_(body),
        loops_(dominators_),
        analysis_(body, shapes, post_dominators_, loops_),
        start_(body.getEntryBlock()) {}

  // True if something was assumed.
  bool run() {
    llvm::SmallVector<Guard> windows;
    for (const BasicBlock* block : analysis_.order()) {
      if (!analysis_.divergent(block)) continue;
      const std::optional<Guard> guard = guard_of(*block);
      if (!guard) {
        for (const BasicBlock* side : llvm::successors(block)) sides_.push_back({block, side});
        continue;
      }
      const Distance distance = distance_behind(guard->edge);
      if (distance == Distance::Apart) assume_condition(guard->condition, guard->result);
      if (distance == Distance::Neighbours && !is_on_a_side(*block)) windows.push_back(*guard);
    }
    if (windows.size() >= kWindow) {
      for (const Guard& guard : windows) assume_condition(guard.condition, guard.result);
    }
    const EdgeIndices edges(body_, analysis_);
    for (Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(body_)))
      limit(instruction);
    for (Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(body_)))
      assume_away_from_edge(instruction, edges);
    return changed_;
  }

 private:
  // Whether the gang may bail out in front of an instruction: all its lanes come there, or none,
  // and no effect comes before.
  bool may_bail_out_at(const Instruction& place) const {
    const BasicBlock* block = place.getParent();
    if (loops_.getLoopFor(block)) return false;
    auto comes_before = [&](const Instruction& instruction) {
      return llvm::isPotentiallyReachable(&instruction, &place, nullptr, &dominators_, &loops_);
    };
    for (const Instruction& instruction : llvm::instructions(body_)) {
      if (has_effects(instruction) && comes_before(instruction)) return false;
    }
    return llvm::none_of(analysis_.order(), [&](const BasicBlock* divergent) {
      return divergent != block && analysis_.divergent(divergent) &&
             !post_dominators_.dominates(block, divergent) &&
             comes_before(*divergent->getTerminator());
    });
  }

  // The gang bails out unless `replaced` has the result that it has if the comparison is true in
  // all lanes: at the start of the body, or in front of `replaced` if the operands, such as a size
  // that was read, are only known there. False if it can in neither place.
  bool assume(Instruction& replaced, ICmpInst::Predicate predicate, Value* a, Value* b) {
    if (start_.can_copy(a) && start_.can_copy(b)) {
      start_.assume(replaced, predicate, a, b);
    } else if (may_bail_out_at(replaced)) {
      llvm::IRBuilder<> builder(&replaced);
      bail_out_unless(builder, builder.CreateICmp(predicate, a, b));
    } else {
      return false;
    }
    changed_ = true;
    return true;
  }

  // A branch around code, which the gang takes in no lane.
  struct Guard {
    llvm::BasicBlockEdge edge;  // into the code
    Value* condition;
    bool result;  // of the condition, for the edge to be taken
  };

  std::optional<Guard> guard_of(const BasicBlock& block) const {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    const auto* node = post_dominators_.getNode(&block);
    if (!branch || !node || !node->getIDom()) return std::nullopt;
    const BasicBlock* after = node->getIDom()->getBlock();
    for (unsigned i = 0; i < 2; ++i) {
      if (branch->getSuccessor(1 - i) == after && branch->getSuccessor(i) != after)
        return Guard{{&block, branch->getSuccessor(i)}, branch->getCondition(), i == 0};
    }
    return std::nullopt;
  }

  // Whether other lanes may run other code than the block: one side of a branch that has two is
  // often for the edges of the data.
  bool is_on_a_side(const BasicBlock& block) const {
    return llvm::any_of(sides_, [&](const llvm::BasicBlockEdge& side) {
      return dominators_.dominates(side, &block);
    });
  }

  // How far apart the lanes' elements are that code accesses.
  enum class Distance { None, Neighbours, Apart };

  Distance distance_behind(const llvm::BasicBlockEdge& edge) const {
    Distance farthest = Distance::None;
    for (const BasicBlock& block : body_) {
      if (!dominators_.dominates(edge, &block)) continue;
      for (const Instruction& instruction : block) {
        const Value* address = llvm::getLoadStorePointerOperand(&instruction);
        if (!address) continue;
        const Shape shape = analysis_.shape(address);
        if (!shape.has_offsets() || shape.is_uniform()) continue;
        const auto size = static_cast<int64_t>(body_.getParent()->getDataLayout().getTypeStoreSize(
            llvm::getLoadStoreType(const_cast<Instruction*>(&instruction))));
        if (shape.offset(1) > size) return Distance::Apart;
        farthest = Distance::Neighbours;
      }
    }
    return farthest;
  }

  void assume_condition(Value* condition, bool result) {
    using namespace llvm::PatternMatch;
    Value* x = nullptr;
    Value* y = nullptr;
    if (match(condition, m_Not(m_Value(x)))) return assume_condition(x, !result);
    if (result ? match(condition, m_LogicalAnd(m_Value(x), m_Value(y)))
               : match(condition, m_LogicalOr(m_Value(x), m_Value(y)))) {
      assume_condition(x, result);
      return assume_condition(y, result);
    }
    auto* compare = llvm::dyn_cast<ICmpInst>(condition);
    if (!compare || !order_of(*compare)) return;
    Value* a = compare->getOperand(0);
    Value* b = compare->getOperand(1);
    if (!compares_index(analysis_, a, b) && !compares_index(analysis_, b, a)) return;
    const auto predicate = result ? compare->getPredicate() : compare->getInversePredicate();
    if (predicate == ICmpInst::ICMP_EQ) return;  // the index of one lane at most
    if (assume(*compare, predicate, a, b))
      compare->replaceAllUsesWith(llvm::ConstantInt::getBool(compare->getType(), result));
  }

  // The limit of an index: the gang reaches it in no lane.
  void limit(Instruction& instruction) {
    const auto predicate = predicate_of_first(instruction);
    if (!predicate || !decides(instruction)) return;
    for (unsigned i = 0; i < 2; ++i) {
      Value* index = instruction.getOperand(i);
      Value* bound = instruction.getOperand(1 - i);
      if (!compares_index(analysis_, index, bound) ||
          !assume(instruction, *predicate, index, bound))
        continue;
      instruction.replaceAllUsesWith(index);
      instruction.eraseFromParent();
      return;
    }
  }

  void assume_away_from_edge(Instruction& instruction, const EdgeIndices& edges) {
    if (!decides(instruction)) return;
    const std::optional<EdgeIndex> edge = edges.find(instruction);
    if (!edge || !assume(instruction, edge->predicate, edge->a, edge->b)) return;
    instruction.replaceAllUsesWith(edge->inside);
    instruction.eraseFromParent();
  }

  llvm::Function& body_;
  llvm::DominatorTree dominators_;
  llvm::PostDominatorTree post_dominators_;
  llvm::LoopInfo loops_;
  ShapeAnalysis analysis_;
  Start start_;
  llvm::SmallVector<llvm::BasicBlockEdge> sides_;  // of divergent branches with code on both
  bool changed_ = false;
};

}  // namespace

void bail_out_unless(llvm::IRBuilder<>& builder, llvm::Value* condition) {
  auto marker = builder.GetInsertBlock()->getModule()->getOrInsertFunction(
      kInside, llvm::FunctionType::get(builder.getVoidTy(), {builder.getInt1Ty()}, false));
  auto* function = checked_cast<llvm::Function>(marker.getCallee());
  function->setOnlyAccessesInaccessibleMemory();
  function->setDoesNotThrow();
  // It is not said to return: the condition must not follow from undefined behaviour of code that
  // does not run when the gang bails out, such as a division by zero.
  builder.CreateCall(marker, {condition});
}

llvm::Function* clone_assuming_inside(llvm::Function& body, const BodyShapes& shapes,
                                      Optimizer& optimizer) {
  constexpr unsigned kRounds = 4;  // behind a comparison with one result, there may be more
  llvm::ValueToValueMapTy values;
  llvm::Function* clone = llvm::CloneFunction(&body, values);
  unsigned rounds = 0;
  split_comparisons(*clone);
  while (rounds < kRounds && Inside(*clone, shapes).run()) {
    ++rounds;
    optimizer.drop_dead_code(*clone);
    split_comparisons(*clone);
  }
  if (rounds > 0) return clone;
  clone->eraseFromParent();
  return nullptr;
}

}  // namespace metal::cpu
