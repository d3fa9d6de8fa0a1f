// No common CPU computes in bfloat: operations become float operations with one rounding each, in
// integer arithmetic that vectorises.
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "metal/cpu/lower.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::Type;
using llvm::Value;

bool is_bfloat(const Type* type) { return type->getScalarType()->isBFloatTy(); }

class BfloatExpansion {
 public:
  explicit BfloatExpansion(Instruction& instruction)
      : instruction_(instruction), builder_(&instruction) {
    if (llvm::isa<llvm::FPMathOperator>(instruction))
      builder_.setFastMathFlags(instruction.getFastMathFlags());
  }

  // The value that replaces the instruction; null if it may stay as it is.
  Value* expand() {
    switch (instruction_.getOpcode()) {
      case Instruction::FAdd:
      case Instruction::FSub:
      case Instruction::FMul:
      case Instruction::FDiv:
      case Instruction::FRem:
        return binary();
      case Instruction::FNeg:
        return negate();
      case Instruction::FCmp:
        return compare();
      case Instruction::FPExt:
        return extend();
      case Instruction::FPTrunc:
        return truncate();
      case Instruction::SIToFP:
      case Instruction::UIToFP:
        return from_integer();
      case Instruction::FPToSI:
      case Instruction::FPToUI:
        return to_integer();
      case Instruction::Call:
        return intrinsic();
      default:
        return nullptr;
    }
  }

 private:
  Type* with(Type* shape, Type* element) { return shape->getWithNewType(element); }

  Value* to_float(Value* value) {
    Value* bits = builder_.CreateBitCast(value, with(value->getType(), builder_.getInt16Ty()));
    bits = builder_.CreateZExt(bits, with(value->getType(), builder_.getInt32Ty()));
    return builder_.CreateBitCast(builder_.CreateShl(bits, 16),
                                  with(value->getType(), builder_.getFloatTy()));
  }

  // To nearest, ties to even; a NaN stays one.
  Value* to_bfloat(Value* value) {
    Type* words = with(value->getType(), builder_.getInt32Ty());
    Value* bits = builder_.CreateBitCast(value, words);
    Value* odd = builder_.CreateAnd(builder_.CreateLShr(bits, 16), 1);
    Value* rounded =
        builder_.CreateAdd(bits, builder_.CreateAdd(odd, llvm::ConstantInt::get(words, 0x7fff)));
    Value* quiet = builder_.CreateOr(bits, 0x400000);
    llvm::IRBuilder<>::FastMathFlagGuard guard(builder_);
    builder_.clearFastMathFlags();
    Value* nan = builder_.CreateFCmpUNO(value, value);
    Value* high = builder_.CreateLShr(builder_.CreateSelect(nan, quiet, rounded), 16);
    Value* half = builder_.CreateTrunc(high, with(value->getType(), builder_.getInt16Ty()));
    return builder_.CreateBitCast(half, with(value->getType(), builder_.getBFloatTy()));
  }

  Value* operand(unsigned i) {
    Value* value = instruction_.getOperand(i);
    return is_bfloat(value->getType()) ? to_float(value) : value;
  }

  Value* binary() {
    if (!is_bfloat(instruction_.getType())) return nullptr;
    const auto opcode = static_cast<Instruction::BinaryOps>(instruction_.getOpcode());
    return to_bfloat(builder_.CreateBinOp(opcode, operand(0), operand(1)));
  }

  Value* negate() {
    if (!is_bfloat(instruction_.getType())) return nullptr;
    return from_bits(builder_.CreateXor(bits_of_operand(), 0x8000));
  }

  Value* bits_of_operand() {
    Value* operand = instruction_.getOperand(0);
    return builder_.CreateBitCast(operand, with(operand->getType(), builder_.getInt16Ty()));
  }

  Value* from_bits(Value* bits) { return builder_.CreateBitCast(bits, instruction_.getType()); }

  Value* compare() {
    if (!is_bfloat(instruction_.getOperand(0)->getType())) return nullptr;
    return builder_.CreateFCmp(llvm::cast<llvm::FCmpInst>(instruction_).getPredicate(), operand(0),
                               operand(1));
  }

  Value* extend() {
    if (!is_bfloat(instruction_.getOperand(0)->getType())) return nullptr;
    return builder_.CreateFPExt(operand(0), instruction_.getType());
  }

  Value* truncate() {
    if (!is_bfloat(instruction_.getType())) return nullptr;
    Type* type = with(instruction_.getType(), builder_.getFloatTy());
    return to_bfloat(builder_.CreateFPTrunc(instruction_.getOperand(0), type));
  }

  Value* from_integer() {
    if (!is_bfloat(instruction_.getType())) return nullptr;
    const auto opcode = static_cast<Instruction::CastOps>(instruction_.getOpcode());
    Type* type = with(instruction_.getType(), builder_.getFloatTy());
    return to_bfloat(builder_.CreateCast(opcode, instruction_.getOperand(0), type));
  }

  Value* to_integer() {
    if (!is_bfloat(instruction_.getOperand(0)->getType())) return nullptr;
    const auto opcode = static_cast<Instruction::CastOps>(instruction_.getOpcode());
    return builder_.CreateCast(opcode, operand(0), instruction_.getType());
  }

  // Element-wise intrinsics: sqrt, floor, fma, minnum, ...
  Value* intrinsic() {
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction_);
    if (!call || !is_bfloat(call->getType()) ||
        !llvm::isTriviallyVectorizable(call->getIntrinsicID()))
      return nullptr;
    if (call->getIntrinsicID() == llvm::Intrinsic::fabs)
      return from_bits(builder_.CreateAnd(bits_of_operand(), 0x7fff));
    std::vector<Value*> operands;
    for (unsigned i = 0; i < call->arg_size(); ++i) operands.push_back(operand(i));
    Type* type = with(call->getType(), builder_.getFloatTy());
    return to_bfloat(builder_.CreateIntrinsic(call->getIntrinsicID(), {type}, operands));
  }

  Instruction& instruction_;
  llvm::IRBuilder<> builder_;
};

}  // namespace

void expand_bfloat(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      Value* replacement = BfloatExpansion(instruction).expand();
      if (!replacement) continue;
      instruction.replaceAllUsesWith(replacement);
      instruction.eraseFromParent();
    }
  }
}

}  // namespace metal::cpu
