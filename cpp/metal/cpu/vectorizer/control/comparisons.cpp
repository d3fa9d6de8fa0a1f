#include "metal/cpu/vectorizer/control/comparisons.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

namespace metal::cpu {
namespace {

using llvm::ICmpInst;
using llvm::Value;

// How the comparisons of the parts make up that of the whole.
enum class Join { None, All, Any };

Join join_of(ICmpInst::Predicate predicate, const llvm::APInt& bound) {
  switch (predicate) {
    case ICmpInst::ICMP_ULT:
      return bound.isPowerOf2() ? Join::All : Join::None;
    case ICmpInst::ICMP_UGT:
      return bound.isMask() ? Join::Any : Join::None;
    case ICmpInst::ICMP_SGT:
      return bound.isAllOnes() ? Join::All : Join::None;
    case ICmpInst::ICMP_SLT:
      return bound.isZero() ? Join::Any : Join::None;
    default:
      return Join::None;
  }
}

Value* compare_parts(llvm::IRBuilder<>& b, const ICmpInst& compare, Join join, Value* part) {
  using namespace llvm::PatternMatch;
  Value* x = nullptr;
  Value* y = nullptr;
  if (!match(part, m_OneUse(m_Or(m_Value(x), m_Value(y)))))
    return b.CreateICmp(compare.getPredicate(), part, compare.getOperand(1));
  Value* first = compare_parts(b, compare, join, x);
  Value* second = compare_parts(b, compare, join, y);
  return join == Join::All ? b.CreateAnd(first, second) : b.CreateOr(first, second);
}

}  // namespace

void split_comparisons(llvm::Function& body) {
  using namespace llvm::PatternMatch;
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(body))) {
    auto* compare = llvm::dyn_cast<ICmpInst>(&instruction);
    const llvm::APInt* bound = nullptr;
    if (!compare || !match(compare->getOperand(0), m_OneUse(m_Or(m_Value(), m_Value()))) ||
        !match(compare->getOperand(1), m_APInt(bound)))
      continue;
    const Join join = join_of(compare->getPredicate(), *bound);
    if (join == Join::None) continue;
    llvm::IRBuilder<> b(compare);
    Value* merged = compare->getOperand(0);
    Value* split = compare_parts(b, *compare, join, merged);
    split->takeName(compare);
    compare->replaceAllUsesWith(split);
    compare->eraseFromParent();
    llvm::RecursivelyDeleteTriviallyDeadInstructions(merged);
  }
}

std::optional<ICmpInst::Predicate> order_of(const ICmpInst& compare) {
  using namespace llvm::PatternMatch;
  if (compare.isRelational()) return compare.getPredicate();
  if (!match(compare.getOperand(1), m_Zero())) return std::nullopt;
  return compare.getPredicate() == ICmpInst::ICMP_EQ ? ICmpInst::ICMP_ULE : ICmpInst::ICMP_UGT;
}

bool compares_index(const ShapeAnalysis& shapes, const Value* index, const Value* bound) {
  const Shape shape = shapes.shape(index);
  return shape.has_offsets() && !shape.is_uniform() && shape.exact() &&
         llvm::is_sorted(shape.offsets()) && shapes.shape(bound).is_uniform();
}

}  // namespace metal::cpu
