#include "metal/cpu/vectorizer/prefetch/stride_in_loop.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"

namespace metal::cpu {

using llvm::SCEV;

std::optional<const SCEV*> StrideInLoop::of_leaf(const SCEV* value) {
  if (evolution_.isLoopInvariant(value, &loop_)) return constant(0);
  const auto* recurrence = llvm::dyn_cast<llvm::SCEVAddRecExpr>(value);
  if (!recurrence) return std::nullopt;
  const bool counts = recurrence->getLoop() == &loop_ && recurrence->isAffine();
  return counts ? as_long(recurrence->getStepRecurrence(evolution_)) : nullptr;
}

}  // namespace metal::cpu
