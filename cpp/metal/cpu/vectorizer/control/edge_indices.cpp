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
  Value* index;  // perhaps with a multiple of the size added
  uint64_t size;
};

// Remainders of constants only: assume_coherent.h has those of other sizes.
std::optional<Remainder> remainder_of(const Instruction& instruction) {
  Value* index = nullptr;
  const llvm::APInt* number = nullptr;
  if (!instruction.getType()->isIntegerTy() || instruction.getType()->getIntegerBitWidth() > 64)
    return std::nullopt;
  if (match(&instruction, m_And(m_Value(index), m_LowBitMask(number))) &&
      number->getActiveBits() < number->getBitWidth() - 1)
    return Remainder{index, number->getZExtValue() + 1};
  if (match(&instruction, m_IRem(m_Value(index), m_APInt(number))) && number->isStrictlyPositive())
    return Remainder{index, number->getZExtValue()};
  return std::nullopt;
}

}  // namespace

EdgeIndices::EdgeIndices(llvm::Function& body, const ShapeAnalysis& shapes) : shapes_(shapes) {
  llvm::MapVector<uint64_t, llvm::SmallVector<Instruction*>> by_size;
  for (Instruction& instruction : llvm::instructions(body)) {
    const auto remainder = remainder_of(instruction);
    if (remainder && remainder->size >= kLeastSize && is_index(remainder->index))
      by_size[remainder->size].push_back(&instruction);
  }
  for (const auto& [size, found] : by_size) {
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
    return EdgeIndex{index, ICmpInst::ICMP_SGE, index, llvm::ConstantInt::get(index->getType(), 0)};
  if (remainders_.contains(&instruction)) return find_remainder(instruction);
  auto* choice = llvm::dyn_cast<llvm::SelectInst>(&instruction);
  return choice ? find_choice(*choice) : std::nullopt;
}

// An index of less than the size is its own remainder. To one that may be negative, programs add
// the size, or a multiple of it: the sum must not be more than the largest integer with a sign.
std::optional<EdgeIndex> EdgeIndices::find_remainder(Instruction& instruction) const {
  const std::optional<Remainder> remainder = remainder_of(instruction);
  if (!remainder) return std::nullopt;
  llvm::Type* type = remainder->index->getType();
  const uint64_t size = remainder->size;
  const uint64_t largest =
      llvm::APInt::getSignedMaxValue(type->getIntegerBitWidth()).getZExtValue();
  Value* inside = remainder->index;
  Value* rest = nullptr;
  const llvm::APInt* added = nullptr;
  if (match(inside, m_Add(m_Value(rest), m_APInt(added))) && added->isStrictlyPositive()) {
    const uint64_t number = added->getZExtValue();
    const uint64_t sizes = number / size + (number % size >= size / 2);
    if (sizes > 0) {
      if (sizes >= largest / size) return std::nullopt;
      inside = llvm::IRBuilder<>(&instruction)
                   .CreateAdd(rest, llvm::ConstantInt::get(type, *added - sizes * size));
    }
  }
  return EdgeIndex{inside, ICmpInst::ICMP_ULT, inside, llvm::ConstantInt::get(type, size)};
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
  return EdgeIndex{inside, predicate, a, b};
}

}  // namespace metal::cpu
