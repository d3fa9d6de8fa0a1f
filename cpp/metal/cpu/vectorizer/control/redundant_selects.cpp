#include "metal/cpu/vectorizer/control/redundant_selects.h"

#include "llvm/ADT/SmallSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"

namespace metal::cpu {
namespace {

using llvm::Value;

constexpr unsigned kMostValues = 64;  // that are looked at for one select

// Whether a value is `other` wherever `mask` is false.
class SameOutside {
 public:
  SameOutside(const Value& mask, const Value& other, const llvm::LoopInfo& loops)
      : mask_(mask), other_(other), loops_(loops) {}

  bool of(const Value& value) { return is(value, other_); }

 private:
  // A mask is false outside another one if it has no lane that the other does not have.
  bool is(const Value& value, const Value& other) {
    using namespace llvm::PatternMatch;
    const bool is_mask = match(&other, m_Zero()) && other.getType()->isIntegerTy(1);
    if (&value == &other || (is_mask && &value == &mask_)) return true;
    // A phi that is met again is that of an earlier iteration, of which this is being shown.
    if (!seen_.insert({&value, &other}).second) return true;
    if (seen_.size() > kMostValues) return false;
    if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&value)) return is_in_phi(*phi, other);
    // The condition is false outside, not poison, so that nothing of the first value is left.
    if (const auto* select = llvm::dyn_cast<llvm::SelectInst>(&value)) {
      return is(*select->getCondition(), *llvm::ConstantInt::getFalse(value.getContext())) &&
             is(*select->getFalseValue(), other);
    }
    const Value *a = nullptr, *b = nullptr;
    return is_mask && match(&value, m_Or(m_Value(a), m_Value(b))) && is(*a, other) && is(*b, other);
  }

  // A phi of a loop also has values of earlier iterations. There, the mask and the other value must
  // have been the same.
  bool is_in_phi(const llvm::PHINode& phi, const Value& other) {
    const llvm::Loop* loop = loops_.getLoopFor(phi.getParent());
    const bool carries = loop && loop->getHeader() == phi.getParent();
    if (carries && (is_inside(*loop, mask_) || is_inside(*loop, other))) return false;
    return llvm::all_of(phi.incoming_values(),
                        [&](const llvm::Use& incoming) { return is(*incoming, other); });
  }

  static bool is_inside(const llvm::Loop& loop, const Value& value) {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
    return instruction && loop.contains(instruction);
  }

  const Value& mask_;
  const Value& other_;
  const llvm::LoopInfo& loops_;
  llvm::SmallSet<std::pair<const Value*, const Value*>, 16> seen_;
};

}  // namespace

void remove_redundant_selects(llvm::Function& body) {
  const llvm::DominatorTree dominators(body);
  const llvm::LoopInfo loops(dominators);
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(body))) {
    auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction);
    if (!select || !select->getCondition()->getType()->isIntegerTy(1)) continue;
    Value* value = select->getTrueValue();
    if (!SameOutside(*select->getCondition(), *select->getFalseValue(), loops).of(*value)) continue;
    select->replaceAllUsesWith(value);
    select->eraseFromParent();
  }
}

}  // namespace metal::cpu
