#include "metal/cpu/vectorizer/memory/restored_sums.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstrTypes.h"

namespace metal::cpu {
namespace {

using llvm::BinaryOperator;
using llvm::Value;

// Whether one number is smaller than the lowest bit that the other one may have.
bool is_below(Value& low, Value& high, llvm::ScalarEvolution& evolution) {
  const uint32_t zeros = evolution.getMinTrailingZeros(evolution.getSCEV(&high));
  return evolution.getUnsignedRangeMax(evolution.getSCEV(&low)).getActiveBits() <= zeros;
}

bool is_sum(const BinaryOperator& either, llvm::ScalarEvolution& evolution) {
  if (either.getOpcode() != llvm::Instruction::Or || !either.getType()->isIntegerTy()) return false;
  Value& left = *either.getOperand(0);
  Value& right = *either.getOperand(1);
  return is_below(left, right, evolution) || is_below(right, left, evolution);
}

// Nothing is carried, so the sum does not wrap around.
void replace_by_sum(BinaryOperator& either, llvm::ScalarEvolution& evolution) {
  llvm::IRBuilder<> b(&either);
  Value* sum = b.CreateAdd(either.getOperand(0), either.getOperand(1), "", /*HasNUW=*/true,
                           /*HasNSW=*/true);
  sum->takeName(&either);
  evolution.forgetValue(&either);
  either.replaceAllUsesWith(sum);
  either.eraseFromParent();
}

}  // namespace

// Operands come first: a sum shows the range of a sum that it is part of.
void restore_sums(llvm::Function& body, llvm::FunctionAnalysisManager& analyses) {
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(body);
  const llvm::ReversePostOrderTraversal<llvm::Function*> blocks(&body);
  for (llvm::BasicBlock* block : blocks) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(*block)) {
      auto* either = llvm::dyn_cast<BinaryOperator>(&instruction);
      if (either && is_sum(*either, evolution)) replace_by_sum(*either, evolution);
    }
  }
}

}  // namespace metal::cpu
