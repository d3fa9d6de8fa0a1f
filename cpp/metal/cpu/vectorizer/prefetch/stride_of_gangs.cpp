#include "metal/cpu/vectorizer/prefetch/stride_of_gangs.h"

#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Argument.h"
#include "llvm/IR/Instructions.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/control/gang_dependence.h"

namespace metal::cpu {

using llvm::SCEV;

std::optional<const SCEV*> StrideOfGangs::of_leaf(const SCEV* value) {
  const bool is_shared = !llvm::SCEVExprContains(value, [&](const SCEV* part) {
    const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(part);
    return unknown && dependence_.depends(unknown->getValue());
  });
  if (is_shared) return constant(0);
  if (const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(value)) {
    const llvm::Value* number = unknown->getValue();
    if (const auto* freeze = llvm::dyn_cast<llvm::FreezeInst>(number))
      number = freeze->getOperand(0);
    const auto* argument = llvm::dyn_cast<llvm::Argument>(number);
    const bool counts =
        argument && (argument->getArgNo() == kXArgument || argument->getArgNo() == kIndexArgument);
    return counts ? constant(width_) : nullptr;
  }
  const auto* recurrence = llvm::dyn_cast<llvm::SCEVAddRecExpr>(value);
  if (!recurrence) return std::nullopt;
  const SCEV* step = recurrence->isAffine() ? of(recurrence->getOperand(1)) : nullptr;
  return step && step->isZero() ? of(recurrence->getStart()) : nullptr;
}

}  // namespace metal::cpu
