#include "metal/cpu/vectorizer/control/edge_indices.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"
#include "metal/cpu/vectorizer/control/comparisons.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

namespace metal::cpu {
namespace {

using namespace llvm::PatternMatch;
using llvm::ICmpInst;
using llvm::Instruction;
using llvm::Value;

// Where gangs are wide, nearly all of them have a lane at an edge of less data.
constexpr uint64_t kLeastSize = 128;
constexpr size_t kLeastAlike = 2;  // remainders of different indices

struct Remainder {
  Value* index;    // with a multiple of the divisor added
  Value* divisor;  // of an unknown size, or the constant `size`
  uint64_t size;   // 0 if it is not a constant
};

std::optional<Remainder> remainder_of(const Instruction& instruction) {
  Value* index = nullptr;
  Value* divisor = nullptr;
  const llvm::APInt* constant = nullptr;
  if (!instruction.getType()->isIntegerTy()) return std::nullopt;
  if (match(&instruction, m_And(m_Value(index), m_LowBitMask(constant))) &&
      constant->getActiveBits() < constant->getBitWidth() - 1)
    return Remainder{index, instruction.getOperand(1), constant->getZExtValue() + 1};
  if (!match(&instruction, m_IRem(m_Value(index), m_Value(divisor)))) return std::nullopt;
  if (!match(divisor, m_APInt(constant))) return Remainder{index, divisor, 0};
  if (!constant->isStrictlyPositive()) return std::nullopt;
  return Remainder{index, divisor, constant->getZExtValue()};
}

// The sum without one of its terms, or null if it is none of them.
Value* without(Value* sum, const Value* term, llvm::IRBuilder<>& b) {
  Value* first = nullptr;
  Value* second = nullptr;
  if (!match(sum, m_Add(m_Value(first), m_Value(second)))) return nullptr;
  if (first == term) return second;
  if (second == term) return first;
  if (!llvm::isa<llvm::ConstantInt>(second)) return nullptr;
  Value* rest = without(first, term, b);
  return rest ? b.CreateAdd(rest, second) : nullptr;
}

}  // namespace

EdgeIndices::EdgeIndices(llvm::Function& body, const ShapeAnalysis& shapes) : shapes_(shapes) {
  llvm::MapVector<Value*, llvm::SmallVector<Instruction*>> by_divisor;
  for (Instruction& instruction : llvm::instructions(body)) {
    const auto remainder = remainder_of(instruction);
    if (remainder && is_index(remainder->index) && shapes.shape(remainder->divisor).is_uniform() &&
        (remainder->size == 0 || remainder->size >= kLeastSize))
      by_divisor[remainder->divisor].push_back(&instruction);
  }
  for (const auto& [divisor, found] : by_divisor) {
    if (found.size() >= kLeastAlike) remainders_.insert(found.begin(), found.end());
  }
}

bool EdgeIndices::is_index(const Value* value) const {
  return compares_index(shapes_, value, llvm::ConstantInt::get(value->getType(), 0));
}

std::optional<EdgeIndex> EdgeIndices::find(Instruction& instruction) const {
  if (!instruction.getType()->isIntegerTy()) return std::nullopt;
  Value* index = nullptr;
  if (match(&instruction, m_Intrinsic<llvm::Intrinsic::abs>(m_Value(index))) && is_index(index))
    return EdgeIndex{index,
                     {{ICmpInst::ICMP_SGE, index, llvm::ConstantInt::get(index->getType(), 0)}}};
  if (remainders_.contains(&instruction)) return find_remainder(instruction);
  auto* choice = llvm::dyn_cast<llvm::SelectInst>(&instruction);
  return choice ? find_choice(*choice) : std::nullopt;
}

// An index of less than the size is its own remainder. To one that may be negative, programs add
// the size.
std::optional<EdgeIndex> EdgeIndices::find_remainder(Instruction& instruction) const {
  const std::optional<Remainder> remainder = remainder_of(instruction);
  if (!remainder) return std::nullopt;
  const auto& [index, divisor, size] = *remainder;
  llvm::Type* type = index->getType();
  llvm::IRBuilder<> b(&instruction);
  EdgeIndex edge{index, {}};
  if (size != 0) {
    Value* rest = nullptr;
    const llvm::APInt* added = nullptr;
    if (match(index, m_Add(m_Value(rest), m_APInt(added))) && added->getSExtValue() > 0 &&
        static_cast<uint64_t>(added->getSExtValue()) >= size / 2)
      edge.inside = b.CreateAdd(rest, llvm::ConstantInt::get(type, *added - size));
    edge.comparisons.push_back(
        {ICmpInst::ICMP_ULT, edge.inside, llvm::ConstantInt::get(type, size)});
    return edge;
  }
  // The compiler guards signed divisions, whose divisors may be 0 or -1.
  Value* length = divisor;
  if (match(divisor, m_Select(m_Value(), m_One(), m_Value(length))))
    edge.comparisons.push_back({ICmpInst::ICMP_EQ, divisor, length});
  if (Value* rest = without(index, length, b)) edge.inside = rest;
  edge.comparisons.push_back({ICmpInst::ICMP_SGT, length, llvm::ConstantInt::get(type, 0)});
  edge.comparisons.push_back({ICmpInst::ICMP_ULT, edge.inside, length});
  return edge;
}

// Of two values, one is for lanes at the edge with which the index is compared.
std::optional<EdgeIndex> EdgeIndices::find_choice(llvm::SelectInst& choice) const {
  auto* compare = llvm::dyn_cast<ICmpInst>(choice.getCondition());
  if (!compare || !compare->getOperand(0)->getType()->isIntegerTy()) return std::nullopt;
  Value* a = compare->getOperand(0);
  Value* b = compare->getOperand(1);
  if (!compares_index(shapes_, a, b) && !compares_index(shapes_, b, a)) return std::nullopt;
  bool chosen = true;  // the condition's value inside
  if (compare->isEquality()) {
    chosen = compare->getPredicate() == ICmpInst::ICMP_NE;
  } else if (is_index(choice.getTrueValue()) != is_index(choice.getFalseValue())) {
    chosen = is_index(choice.getTrueValue());
  } else {
    // Inside, an index is larger than the least one and less than the size.
    const bool is_first = compares_index(shapes_, a, b);
    const auto* bound = llvm::dyn_cast<llvm::ConstantInt>(is_first ? b : a);
    const bool is_lower = bound && bound->getValue().abs().ult(kLeastSize / 2);
    const auto predicate = is_first ? compare->getPredicate() : compare->getSwappedPredicate();
    chosen = is_lower == (ICmpInst::isGT(predicate) || ICmpInst::isGE(predicate));
  }
  Value* inside = chosen ? choice.getTrueValue() : choice.getFalseValue();
  if (!is_index(inside)) return std::nullopt;
  const auto predicate = chosen ? compare->getPredicate() : compare->getInversePredicate();
  return EdgeIndex{inside, {{predicate, a, b}}};
}

}  // namespace metal::cpu
