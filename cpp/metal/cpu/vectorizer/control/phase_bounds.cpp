#include "metal/cpu/vectorizer/control/phase_bounds.h"

#include <bit>

#include "llvm/IR/CFG.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/control/gang_dependence.h"
#include "metal/driver.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::CmpInst;
using llvm::Instruction;
using llvm::Value;

using Blocks = llvm::SmallSetVector<BasicBlock*, 16>;

constexpr unsigned kMostSteps = 8;         // from a bound back to what is known before the loop
constexpr uint64_t kMostOffset = 1 << 10;  // added to a place
constexpr unsigned kFewestBits = 16;       // hold a place and an offset, also as a signed number

// A place of a gang's thread: `scale * number + offset` if `by_row` is false. Otherwise `number` is
// not the gang's, but that of its row. The scale is a power of two.
struct LinearPlace {
  uint32_t scale;
  uint64_t offset;
  bool by_row;
};

// Gangs that may take an edge. A null end is that of the threadgroup.
struct Ends {
  Value *first = nullptr, *end = nullptr;
};

class BusyGangs {
 public:
  BusyGangs(llvm::IRBuilder<>& b, const LoopedPhase& phase, const GangDependence& dependence,
            const Variant& variant, Value* gangs)
      : b_(b), phase_(phase), dependence_(dependence), variant_(variant), gangs_(gangs) {}

  std::optional<GangRange> find() {
    llvm::SmallVector<Ends> ranges;
    Blocks idle;  // what gangs reach that pass no guard
    idle.insert(phase_.first);
    for (size_t i = 0; i < idle.size(); ++i) {
      if (has_effects(*idle[i])) return std::nullopt;
      BasicBlock* guarded = nullptr;
      if (auto range = find_guard(*idle[i], guarded)) ranges.push_back(*range);
      for (BasicBlock* next : llvm::successors(idle[i]))
        if (next != guarded && phase_.blocks.contains(next)) idle.insert(next);
    }
    if (ranges.empty()) return std::nullopt;
    Ends all = ranges.front();
    for (const Ends& range : llvm::drop_begin(ranges)) all = hull(all, range);
    if (!all.first && !all.end) return std::nullopt;
    return limit(all);
  }

 private:
  bool has_effects(const BasicBlock& block) const {
    return llvm::any_of(block, [&](const Instruction& instruction) {
      const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      if (store && store->isSimple() && phase_.variables.contains(store->getPointerOperand()))
        return false;
      const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (call && call->isAssumeLikeIntrinsic()) return false;
      return instruction.mayHaveSideEffects() || instruction.isVolatile();
    });
  }

  // Finds the branch at the block's end that guards all effects of one of its ways, and returns the
  // gangs that may take this way.
  std::optional<Ends> find_guard(BasicBlock& block, BasicBlock*& guarded) {
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (!branch || !branch->isConditional() || !dependence_.depends(branch)) return std::nullopt;
    BasicBlock *yes = branch->getSuccessor(0), *no = branch->getSuccessor(1);
    const Blocks from_yes = reach(yes), from_no = reach(no);
    const bool yes_works = works(from_yes, from_no), no_works = works(from_no, from_yes);
    if (yes_works == no_works) return std::nullopt;
    const auto range = range_of(branch->getCondition(), yes_works);
    if (range) guarded = yes_works ? yes : no;
    return range;
  }

  Blocks reach(BasicBlock* start) const {
    Blocks reached;
    if (phase_.blocks.contains(start)) reached.insert(start);
    for (size_t i = 0; i < reached.size(); ++i) {
      for (BasicBlock* next : llvm::successors(reached[i]))
        if (next != phase_.first && phase_.blocks.contains(next)) reached.insert(next);
    }
    return reached;
  }

  bool works(const Blocks& way, const Blocks& other) const {
    return llvm::any_of(
        way, [&](BasicBlock* block) { return !other.contains(block) && has_effects(*block); });
  }

  // The gangs for which the condition may have the value. If a bound is poison, a gang that is left
  // out stands for one whose condition was frozen to the other value.
  std::optional<Ends> range_of(Value* condition, bool value) {
    using namespace llvm::PatternMatch;
    Value *a, *c;
    if (auto* freeze = llvm::dyn_cast<llvm::FreezeInst>(condition))
      return range_of(freeze->getOperand(0), value);
    if (match(condition, m_Not(m_Value(a)))) return range_of(a, !value);
    const bool is_and = match(condition, m_LogicalAnd(m_Value(a), m_Value(c)));
    if (is_and || match(condition, m_LogicalOr(m_Value(a), m_Value(c)))) {
      const auto left = range_of(a, value), right = range_of(c, value);
      if (is_and == value) {  // both have the value
        if (left && right) return intersection(*left, *right);
        return left ? left : right;
      }
      if (left && right) return hull(*left, *right);
      return std::nullopt;
    }
    auto* compare = llvm::dyn_cast<llvm::ICmpInst>(condition);
    if (!compare || !compare->getOperand(0)->getType()->isIntegerTy()) return std::nullopt;
    const CmpInst::Predicate predicate =
        value ? compare->getPredicate() : compare->getInversePredicate();
    if (auto range = range_of(predicate, compare->getOperand(0), compare->getOperand(1)))
      return range;
    return range_of(CmpInst::getSwappedPredicate(predicate), compare->getOperand(1),
                    compare->getOperand(0));
  }

  std::optional<Ends> range_of(CmpInst::Predicate predicate, Value* left, Value* right) {
    const auto place = find_place(left);
    Value* bound = place ? before_loop(right) : nullptr;
    if (!bound) return std::nullopt;
    if (!llvm::isa<llvm::ConstantInt>(bound)) bound = b_.CreateFreeze(bound);
    const bool is_signed = CmpInst::isSigned(predicate);
    auto below = [&] { return gangs_below(*place, bound, is_signed); };
    auto up_to = [&] { return gangs_up_to(*place, bound, is_signed); };
    switch (is_signed ? CmpInst::getUnsignedPredicate(predicate) : predicate) {
      case CmpInst::ICMP_ULT:
        return Ends{nullptr, below()};
      case CmpInst::ICMP_UGE:
        return Ends{below(), nullptr};
      case CmpInst::ICMP_ULE:
        return Ends{nullptr, up_to()};
      case CmpInst::ICMP_UGT:
        return Ends{up_to(), nullptr};
      case CmpInst::ICMP_EQ:
        return Ends{below(), up_to()};
      default:
        return std::nullopt;
    }
  }

  std::optional<LinearPlace> find_place(Value* value) const {
    using namespace llvm::PatternMatch;
    if (const auto place = place_of_argument(value)) return place;
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (!instruction || instruction->getNumOperands() == 0) return std::nullopt;
    if (llvm::isa<llvm::ZExtInst, llvm::SExtInst>(instruction) ||
        (llvm::isa<llvm::TruncInst>(instruction) && value->getType()->isIntegerTy() &&
         value->getType()->getScalarSizeInBits() >= kFewestBits))
      return find_place(instruction->getOperand(0));
    const llvm::APInt* by;
    Value* inner;
    if (match(value, m_AddLike(m_Value(inner), m_APInt(by)))) return moved(find_place(inner), *by);
    if (match(value, m_LShr(m_Value(inner), m_APInt(by)))) return divided(find_place(inner), *by);
    return std::nullopt;
  }

  // Jammed gangs get the number of their set as the index, and nothing as x and y.
  std::optional<LinearPlace> place_of_argument(const Value* value) const {
    const bool is_set = variant_.jammed > 1;
    if (value == phase_.arguments[kIndexArgument])
      return LinearPlace{is_set ? 1 : variant_.width, 0, false};
    if (is_set) return std::nullopt;
    if (value == phase_.arguments[kXArgument] && variant_.rows == 1)
      return LinearPlace{variant_.width, 0, false};
    if (value == phase_.arguments[kYArgument] && variant_.rows > 1) return LinearPlace{1, 0, true};
    return std::nullopt;
  }

  static std::optional<LinearPlace> moved(std::optional<LinearPlace> place, const llvm::APInt& by) {
    if (!place || by.ugt(kMostOffset - place->offset)) return std::nullopt;
    place->offset += by.getZExtValue();
    return place;
  }

  static std::optional<LinearPlace> divided(std::optional<LinearPlace> place,
                                            const llvm::APInt& by) {
    if (!place || by.ugt(static_cast<uint64_t>(std::countr_zero(place->scale))))
      return std::nullopt;
    place->scale >>= by.getZExtValue();
    place->offset >>= by.getZExtValue();
    return place;
  }

  // How many gangs, or rows of gangs, are at places below the bound. The first one is at `offset`.
  Value* gangs_below(const LinearPlace& place, Value* bound, bool is_signed) {
    Value* offset = llvm::ConstantInt::get(bound->getType(), place.offset);
    Value* some = is_signed ? b_.CreateICmpSGT(bound, offset) : b_.CreateICmpUGT(bound, offset);
    Value* one = llvm::ConstantInt::get(bound->getType(), 1);
    return gangs_if(some, b_.CreateSub(b_.CreateSub(bound, offset), one), place);
  }

  Value* gangs_up_to(const LinearPlace& place, Value* bound, bool is_signed) {
    Value* offset = llvm::ConstantInt::get(bound->getType(), place.offset);
    Value* some = is_signed ? b_.CreateICmpSGE(bound, offset) : b_.CreateICmpUGE(bound, offset);
    return gangs_if(some, b_.CreateSub(bound, offset), place);
  }

  // None, or as many as have their place not further than this behind the first one.
  Value* gangs_if(Value* some, Value* distance, const LinearPlace& place) {
    llvm::Type* type = distance->getType();
    Value* last = b_.CreateLShr(distance, static_cast<uint64_t>(std::countr_zero(place.scale)));
    Value* most = llvm::ConstantInt::get(type, kMaxThreadsPerThreadgroup);
    last = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, last, most);
    Value* count = b_.CreateAdd(b_.CreateZExtOrTrunc(last, b_.getInt32Ty()), b_.getInt32(1));
    count = b_.CreateSelect(some, count, b_.getInt32(0));
    return place.by_row ? b_.CreateMul(count, b_.getInt32(variant_.gangs_in_row)) : count;
  }

  // The value, computed before the loop; null if that may not be possible.
  Value* before_loop(Value* value, unsigned steps = 0) {
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (!instruction) return value;
    if (instruction->getParent() == phase_.each_gang) return nullptr;
    if (!phase_.blocks.contains(instruction->getParent())) return value;
    if (Value* known = moved_.lookup(value)) return known;
    if (steps == kMostSteps || dependence_.depends(value) || instruction->isIntDivRem() ||
        !llvm::isa<llvm::BinaryOperator, llvm::CastInst>(instruction))
      return nullptr;
    Instruction* copy = instruction->clone();
    for (llvm::Use& operand : copy->operands()) {
      Value* moved = before_loop(operand, steps + 1);
      if (!moved) {
        copy->deleteValue();
        return nullptr;
      }
      operand.set(moved);
    }
    return moved_[value] = b_.Insert(copy);
  }

  Ends hull(const Ends& one, const Ends& other) {
    return {joined(llvm::Intrinsic::umin, one.first, other.first, nullptr),
            joined(llvm::Intrinsic::umax, one.end, other.end, nullptr)};
  }

  Ends intersection(const Ends& one, const Ends& other) {
    return {
        joined(llvm::Intrinsic::umax, one.first, other.first, one.first ? one.first : other.first),
        joined(llvm::Intrinsic::umin, one.end, other.end, one.end ? one.end : other.end)};
  }

  Value* joined(llvm::Intrinsic::ID choice, Value* one, Value* other, Value* otherwise) {
    return one && other ? b_.CreateBinaryIntrinsic(choice, one, other) : otherwise;
  }

  GangRange limit(const Ends& ends) {
    Value *one = b_.getInt32(1), *first = b_.getInt32(0), *end = gangs_;
    auto at_most = [&](Value* number, Value* most) {
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, number, most);
    };
    if (ends.first) first = at_most(ends.first, b_.CreateNUWSub(gangs_, one));
    if (ends.end) end = at_most(ends.end, gangs_);
    end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, end, b_.CreateNUWAdd(first, one));
    return {first, end};
  }

  llvm::IRBuilder<>& b_;
  const LoopedPhase& phase_;
  const GangDependence& dependence_;
  const Variant& variant_;
  Value* gangs_;
  llvm::DenseMap<Value*, Value*> moved_;  // computed before the loop
};

}  // namespace

std::optional<GangRange> find_busy_gangs(llvm::IRBuilder<>& b, const LoopedPhase& phase,
                                         const GangDependence& dependence, const Variant& variant,
                                         Value* gangs) {
  return BusyGangs(b, phase, dependence, variant, gangs).find();
}

}  // namespace metal::cpu
