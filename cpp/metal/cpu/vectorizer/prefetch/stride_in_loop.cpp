#include "metal/cpu/vectorizer/prefetch/stride_in_loop.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"

namespace metal::cpu {

using llvm::SCEV;

const SCEV* StrideInLoop::of(llvm::Value* address) { return stride(evolution_.getSCEV(address)); }

const SCEV* StrideInLoop::stride(const SCEV* value) {
  const auto found = known_.find(value);
  return found != known_.end() ? found->second : known_[value] = compute(value);
}

const SCEV* StrideInLoop::compute(const SCEV* value) {
  llvm::Type* type = llvm::Type::getInt64Ty(evolution_.getContext());
  if (evolution_.isLoopInvariant(value, &loop_)) return evolution_.getZero(type);
  if (const auto* recurrence = llvm::dyn_cast<llvm::SCEVAddRecExpr>(value)) {
    const bool counts = recurrence->getLoop() == &loop_ && recurrence->isAffine();
    return counts ? as_long(recurrence->getStepRecurrence(evolution_)) : nullptr;
  }
  if (const auto* cast = llvm::dyn_cast<llvm::SCEVCastExpr>(value))
    return stride(cast->getOperand());
  if (const auto* sum = llvm::dyn_cast<llvm::SCEVAddExpr>(value)) {
    const SCEV* total = evolution_.getZero(type);
    for (const SCEV* operand : sum->operands()) {
      const SCEV* part = stride(operand);
      if (!part) return nullptr;
      total = evolution_.getAddExpr(total, part);
    }
    return total;
  }
  const auto* product = llvm::dyn_cast<llvm::SCEVMulExpr>(value);
  if (!product || product->getNumOperands() != 2) return nullptr;
  for (unsigned i : {0u, 1u}) {
    const SCEV* factor = product->getOperand(i);
    if (!evolution_.isLoopInvariant(factor, &loop_)) continue;
    const SCEV* other = stride(product->getOperand(1 - i));
    return other ? evolution_.getMulExpr(as_long(factor), other) : nullptr;
  }
  return nullptr;
}

const SCEV* StrideInLoop::as_long(const SCEV* value) {
  return evolution_.getTruncateOrSignExtend(value, llvm::Type::getInt64Ty(evolution_.getContext()));
}

}  // namespace metal::cpu
