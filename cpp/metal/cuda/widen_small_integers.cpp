#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "metal/cuda/lower.h"

namespace metal::cuda {
namespace {

using llvm::Value;
namespace match = llvm::PatternMatch;

// The same with 32 bits, or null for what stays. LLVM's back end makes negations of products with
// -2^n.
Value* widened(llvm::IRBuilder<>& b, llvm::Instruction& instruction) {
  llvm::Type* wide = instruction.getType()->getWithNewBitWidth(32);
  Value *value, *factor;
  if (match::match(&instruction, match::m_Neg(match::m_Value(value))))
    return b.CreateNeg(b.CreateSExt(value, wide));
  if (match::match(&instruction, match::m_Mul(match::m_Value(value),
                                              match::m_CombineAnd(match::m_NegatedPower2(),
                                                                  match::m_Value(factor)))))
    return b.CreateMul(b.CreateSExt(value, wide), b.CreateSExt(factor, wide));
  if (match::match(&instruction, match::m_Intrinsic<llvm::Intrinsic::abs>(match::m_Value(value))))
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, b.CreateSExt(value, wide), b.getFalse());
  if (const auto* least = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&instruction)) {
    auto extended = [&](Value* small) {
      return least->isSigned() ? b.CreateSExt(small, wide) : b.CreateZExt(small, wide);
    };
    return b.CreateBinaryIntrinsic(least->getIntrinsicID(), extended(least->getLHS()),
                                   extended(least->getRHS()));
  }
  return nullptr;
}

// The same number, of which LLVM's back end knows nothing. Otherwise it sees that the upper bits
// are not used, and computes with 16 bits again.
Value* hidden(llvm::IRBuilder<>& b, Value* number) {
  llvm::Type* element = number->getType()->getScalarType();
  auto* move = llvm::InlineAsm::get(llvm::FunctionType::get(element, {element}, false),
                                    "mov.b32 $0, $1;", "=r,r", /*hasSideEffects=*/false);
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(number->getType());
  if (!vector) return b.CreateCall(move, {number});
  Value* result = llvm::PoisonValue::get(number->getType());
  for (unsigned i = 0; i < vector->getNumElements(); ++i)
    result =
        b.CreateInsertElement(result, b.CreateCall(move, {b.CreateExtractElement(number, i)}), i);
  return result;
}

}  // namespace

void widen_small_integers(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      const llvm::Type* element = instruction.getType()->getScalarType();
      if (!element->isIntegerTy(8) && !element->isIntegerTy(16)) continue;
      llvm::IRBuilder<> b(&instruction);
      Value* result = widened(b, instruction);
      if (!result) continue;
      instruction.replaceAllUsesWith(b.CreateTrunc(hidden(b, result), instruction.getType()));
      instruction.eraseFromParent();
    }
  }
}

}  // namespace metal::cuda
