#include "metal/cpu/vectorizer/prefetch/growth.h"

#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"

namespace metal::cpu {

using llvm::SCEV;

const SCEV* Growth::of(llvm::Value* value) { return of(evolution_.getSCEV(value)); }

const SCEV* Growth::of(const SCEV* value) {
  const auto found = known_.find(value);
  if (found != known_.end()) return found->second;
  const std::optional<const SCEV*> leaf = of_leaf(value);
  return known_[value] = leaf ? *leaf : compute(value);
}

const SCEV* Growth::compute(const SCEV* value) {
  if (const auto* cast = llvm::dyn_cast<llvm::SCEVCastExpr>(value)) return of(cast->getOperand());
  if (const auto* sum = llvm::dyn_cast<llvm::SCEVAddExpr>(value)) {
    const SCEV* total = constant(0);
    for (const SCEV* operand : sum->operands()) {
      const SCEV* part = of(operand);
      if (!part) return nullptr;
      total = evolution_.getAddExpr(total, part);
    }
    return total;
  }
  const auto* product = llvm::dyn_cast<llvm::SCEVMulExpr>(value);
  if (!product || product->getNumOperands() != 2) return nullptr;
  for (unsigned i : {0u, 1u}) {
    const SCEV* factor = product->getOperand(i);
    const SCEV* of_factor = of(factor);
    if (!of_factor || !of_factor->isZero()) continue;
    const SCEV* other = of(product->getOperand(1 - i));
    return other ? evolution_.getMulExpr(as_long(factor), other) : nullptr;
  }
  return nullptr;
}

const SCEV* Growth::as_long(const SCEV* value) {
  return evolution_.getTruncateOrSignExtend(value, constant(0)->getType());
}

const SCEV* Growth::constant(uint64_t number) {
  return evolution_.getConstant(llvm::Type::getInt64Ty(evolution_.getContext()), number);
}

}  // namespace metal::cpu
