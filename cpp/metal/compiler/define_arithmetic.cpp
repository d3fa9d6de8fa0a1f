// Defines the integer operations that LLVM leaves undefined and Metal does not.
#include <optional>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/kernel_form.h"

namespace metal::compiler {
namespace {

using llvm::BinaryOperator;
using llvm::Constant;
using llvm::ConstantInt;
using llvm::Instruction;
using llvm::Value;

// Metal takes shift amounts modulo the width.
void mask_shift(BinaryOperator& shift) {
  Value* amount = shift.getOperand(1);
  const unsigned width = amount->getType()->getScalarSizeInBits();
  if (const auto* constant = llvm::dyn_cast<ConstantInt>(amount);
      constant && constant->getValue().ult(width))
    return;
  if (!llvm::isPowerOf2_32(width)) return;
  llvm::IRBuilder<> builder(&shift);
  shift.setOperand(1, builder.CreateAnd(amount, ConstantInt::get(amount->getType(), width - 1)));
}

bool is_valid_divisor(const Value* divisor, bool is_signed) {
  const auto* constant = llvm::dyn_cast<Constant>(divisor);
  if (!constant) return false;
  const Constant* element =
      constant->getType()->isVectorTy() ? constant->getSplatValue() : constant;
  const auto* number = llvm::dyn_cast_or_null<ConstantInt>(element);
  return number && !number->isZero() && !(is_signed && number->isMinusOne());
}

// Divides by 1 instead of by 0. The smallest integer has no quotient by -1, so -1 becomes 1, too,
// and the quotient is negated. The new divisor does not depend on the dividend: vector code divides
// once where all lanes have one divisor.
void guard_division(BinaryOperator& division) {
  const bool is_signed =
      division.getOpcode() == Instruction::SDiv || division.getOpcode() == Instruction::SRem;
  Value* divisor = division.getOperand(1);
  if (is_valid_divisor(divisor, is_signed)) return;
  llvm::IRBuilder<> builder(&division);
  llvm::Type* type = divisor->getType();
  Constant* one = ConstantInt::get(type, 1);
  Value* invalid = builder.CreateICmpEQ(divisor, Constant::getNullValue(type));
  Value* negates = nullptr;
  if (is_signed) {
    negates = builder.CreateICmpEQ(divisor, Constant::getAllOnesValue(type));
    invalid = builder.CreateOr(invalid, negates);
  }
  division.setOperand(1, builder.CreateSelect(invalid, one, divisor));
  if (division.getOpcode() != Instruction::SDiv) return;
  builder.SetInsertPoint(division.getNextNode());
  Value* sign = builder.CreateSelect(negates, Constant::getAllOnesValue(type), one);
  auto* signed_quotient = builder.CreateMul(&division, sign);
  division.replaceUsesWithIf(
      signed_quotient, [&](const llvm::Use& use) { return use.getUser() != signed_quotient; });
}

// Arithmetic in half and bfloat rounds after every operation, so there is no fused multiply-add.
bool split_multiply_add(llvm::IntrinsicInst& call) {
  if (call.getIntrinsicID() != llvm::Intrinsic::fmuladd) return false;
  llvm::Type* scalar = call.getType()->getScalarType();
  if (!scalar->isHalfTy() && !scalar->isBFloatTy()) return false;
  llvm::IRBuilder<> builder(&call);
  Value* product = builder.CreateFMul(call.getArgOperand(0), call.getArgOperand(1));
  call.replaceAllUsesWith(builder.CreateFAdd(product, call.getArgOperand(2)));
  return true;
}

// LLVM has no conversion between half and bfloat, which have the same size. Clang emits one all the
// same where operands of both types meet.
bool convert_through_float(Instruction& instruction) {
  if (!llvm::isa<llvm::FPExtInst, llvm::FPTruncInst>(instruction)) return false;
  Value* operand = instruction.getOperand(0);
  llvm::Type* type = instruction.getType();
  if (operand->getType()->getScalarSizeInBits() != 16 || type->getScalarSizeInBits() != 16)
    return false;
  llvm::IRBuilder<> builder(&instruction);
  Value* wide = builder.CreateFPExt(operand, type->getWithNewType(builder.getFloatTy()));
  instruction.replaceAllUsesWith(builder.CreateFPTrunc(wide, type));
  return true;
}

// The intrinsic for a conversion of a float to an integer; none for other instructions.
std::optional<llvm::Intrinsic::ID> conversion_of(const Instruction& instruction) {
  if (instruction.getOpcode() == Instruction::FPToSI) return llvm::Intrinsic::fptosi_sat;
  if (instruction.getOpcode() == Instruction::FPToUI) return llvm::Intrinsic::fptoui_sat;
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call) return std::nullopt;
  const llvm::Intrinsic::ID id = call->getIntrinsicID();
  const bool saturates = id == llvm::Intrinsic::fptosi_sat || id == llvm::Intrinsic::fptoui_sat;
  return saturates ? std::optional(id) : std::nullopt;
}

// Conversions saturate (NaN gives 0), as on GPUs. Half and bfloat are converted to float first:
// LLVM has no saturating conversion of bfloat, and that of half to short gives -32768 for NaN with
// AVX512-FP16.
bool saturate_conversion(Instruction& instruction) {
  const auto id = conversion_of(instruction);
  if (!id) return false;
  Value* operand = instruction.getOperand(0);
  const bool is_small = operand->getType()->getScalarSizeInBits() == 16;
  if (llvm::isa<llvm::CallInst>(instruction) && !is_small) return false;
  llvm::IRBuilder<> builder(&instruction);
  if (is_small) {
    operand =
        builder.CreateFPExt(operand, operand->getType()->getWithNewType(builder.getFloatTy()));
  }
  instruction.replaceAllUsesWith(
      builder.CreateIntrinsic(*id, {instruction.getType(), operand->getType()}, {operand}));
  return true;
}

}  // namespace

void convert_through_float(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function)))
      if (convert_through_float(instruction)) instruction.eraseFromParent();
  }
}

void define_arithmetic(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      bool replaced = saturate_conversion(instruction);
      if (auto* operation = llvm::dyn_cast<BinaryOperator>(&instruction)) {
        if (operation->isShift()) mask_shift(*operation);
        if (operation->isIntDivRem()) guard_division(*operation);
      } else if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
                 call && !replaced) {
        replaced = split_multiply_add(*call);
      }
      if (replaced) instruction.eraseFromParent();
    }
  }
}

}  // namespace metal::compiler
