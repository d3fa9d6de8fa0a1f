#include "metal/cpu/vectorizer/memory/restored_sums.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/InstrTypes.h"
#include "metal/cpu/vectorizer/speculation.h"

namespace metal::cpu {
namespace {

using llvm::Value;

// Whether one number is smaller than the lowest bit that the other one may have.
bool is_below(Value& low, Value& high, llvm::ScalarEvolution& evolution) {
  const uint32_t zeros = evolution.getMinTrailingZeros(evolution.getSCEV(&high));
  return evolution.getUnsignedRangeMax(evolution.getSCEV(&low)).getActiveBits() <= zeros;
}

bool is_sum(const llvm::PossiblyDisjointInst& either, llvm::ScalarEvolution& evolution) {
  if (!either.getType()->isIntegerTy()) return false;
  Value& left = *either.getOperand(0);
  Value& right = *either.getOperand(1);
  return is_below(left, right, evolution) || is_below(right, left, evolution);
}

}  // namespace

// Operands come first: a sum shows the range of a sum that it is part of.
void restore_sums(llvm::Function& body, llvm::FunctionAnalysisManager& analyses) {
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(body);
  const llvm::ReversePostOrderTraversal<llvm::Function*> blocks(&body);
  for (llvm::BasicBlock* block : blocks) {
    for (llvm::Instruction& instruction : *block) {
      auto* either = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&instruction);
      if (!either || !is_sum(*either, evolution)) continue;
      either->setIsDisjoint(true);
      evolution.forgetValue(either);
    }
  }
  undo_guarded_forms(body);
}

}  // namespace metal::cpu
