// Turns operations on bfloat and half into float operations with one rounding each. Conversions of
// bfloat, which no common processor has, become integer arithmetic that vectorises. Processors with
// AVX512-FP16 keep operations on half.
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/codegen/lower.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::Type;
using llvm::Value;

class Expansion {
 public:
  // `kind` is half or bfloat.
  Expansion(Instruction& instruction, Type::TypeID kind)
      : instruction_(instruction), kind_(kind), builder_(&instruction) {
    if (llvm::isa<llvm::FPMathOperator>(instruction))
      builder_.setFastMathFlags(instruction.getFastMathFlags());
  }

  // The value that replaces the instruction, or null if it stays.
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
  bool is_small(const Type* type) const { return type->getScalarType()->getTypeID() == kind_; }

  Type* with(Type* shape, Type* element) { return shape->getWithNewType(element); }

  Value* to_float(Value* value) {
    if (kind_ == Type::HalfTyID)
      return builder_.CreateFPExt(value, with(value->getType(), builder_.getFloatTy()));
    Value* bits = builder_.CreateBitCast(value, with(value->getType(), builder_.getInt16Ty()));
    bits = builder_.CreateZExt(bits, with(value->getType(), builder_.getInt32Ty()));
    return builder_.CreateBitCast(builder_.CreateShl(bits, 16),
                                  with(value->getType(), builder_.getFloatTy()));
  }

  Value* to_small(Value* value) {
    return kind_ == Type::HalfTyID
               ? builder_.CreateFPTrunc(value, with(value->getType(), builder_.getHalfTy()))
               : to_bfloat(value);
  }

  // Rounds to nearest, ties to even. A NaN stays a NaN.
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
    return is_small(value->getType()) ? to_float(value) : value;
  }

  Value* binary() {
    if (!is_small(instruction_.getType())) return nullptr;
    const auto opcode = static_cast<Instruction::BinaryOps>(instruction_.getOpcode());
    return to_small(builder_.CreateBinOp(opcode, operand(0), operand(1)));
  }

  Value* negate() {
    if (!is_small(instruction_.getType())) return nullptr;
    Value* bits = bits_of_operand();
    return from_bits(builder_.CreateXor(bits, of_each(bits, 0x8000)));
  }

  // As integers of two elements if there are pairs. LLVM's code generator takes operations on
  // single elements of a vector for negations and absolute values, and computes these in float:
  // then the conversion back to bfloat flushes denormals.
  Value* bits_of_operand() {
    Value* operand = instruction_.getOperand(0);
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(operand->getType());
    if (!vector || vector->getNumElements() % 2 != 0)
      return builder_.CreateBitCast(operand, with(operand->getType(), builder_.getInt16Ty()));
    return builder_.CreateBitCast(
        operand, llvm::FixedVectorType::get(builder_.getInt32Ty(), vector->getNumElements() / 2));
  }

  // The same 16 bits for each element.
  static Value* of_each(const Value* bits, uint32_t element) {
    const bool pairs = bits->getType()->getScalarSizeInBits() == 32;
    return llvm::ConstantInt::get(bits->getType(), pairs ? element << 16 | element : element);
  }

  Value* from_bits(Value* bits) { return builder_.CreateBitCast(bits, instruction_.getType()); }

  Value* compare() {
    if (!is_small(instruction_.getOperand(0)->getType())) return nullptr;
    return builder_.CreateFCmp(checked_cast<llvm::FCmpInst>(instruction_).getPredicate(),
                               operand(0), operand(1));
  }

  // Processors can convert half to float.
  Value* extend() {
    if (kind_ == Type::HalfTyID || !is_small(instruction_.getOperand(0)->getType())) return nullptr;
    return builder_.CreateFPExt(operand(0), instruction_.getType());
  }

  Value* truncate() {
    if (kind_ == Type::HalfTyID || !is_small(instruction_.getType())) return nullptr;
    Type* type = with(instruction_.getType(), builder_.getFloatTy());
    return to_bfloat(builder_.CreateFPTrunc(instruction_.getOperand(0), type));
  }

  Value* from_integer() {
    if (!is_small(instruction_.getType())) return nullptr;
    const auto opcode = static_cast<Instruction::CastOps>(instruction_.getOpcode());
    Type* type = with(instruction_.getType(), builder_.getFloatTy());
    return to_small(builder_.CreateCast(opcode, instruction_.getOperand(0), type));
  }

  Value* to_integer() {
    if (!is_small(instruction_.getOperand(0)->getType())) return nullptr;
    const auto opcode = static_cast<Instruction::CastOps>(instruction_.getOpcode());
    return builder_.CreateCast(opcode, operand(0), instruction_.getType());
  }

  // Intrinsics that work element by element: sqrt, floor, fma, minnum, ...
  Value* intrinsic() {
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction_);
    if (!call || !is_small(call->getType()) ||
        !llvm::isTriviallyVectorizable(call->getIntrinsicID()))
      return nullptr;
    if (call->getIntrinsicID() == llvm::Intrinsic::fabs) {
      Value* bits = bits_of_operand();
      return from_bits(builder_.CreateAnd(bits, of_each(bits, 0x7fff)));
    }
    std::vector<Value*> operands;
    for (unsigned i = 0; i < call->arg_size(); ++i) operands.push_back(operand(i));
    Type* type = with(call->getType(), builder_.getFloatTy());
    return to_small(builder_.CreateIntrinsic(call->getIntrinsicID(), {type}, operands));
  }

  Instruction& instruction_;
  const Type::TypeID kind_;
  llvm::IRBuilder<> builder_;
};

bool is_vector_of(const Type* type, Type::TypeID kind) {
  return type->isVectorTy() && type->getScalarType()->getTypeID() == kind;
}

Value* select_bits(llvm::SelectInst& choice) {
  llvm::IRBuilder<> b(&choice);
  Value* chosen = b.CreateSelect(choice.getCondition(), bits_of(choice.getTrueValue(), choice),
                                 bits_of(choice.getFalseValue(), choice));
  return b.CreateBitCast(chosen, choice.getType());
}

Value* carry_bits(llvm::PHINode& phi) {
  llvm::IRBuilder<> b(&phi);
  llvm::PHINode* carried =
      b.CreatePHI(phi.getType()->getWithNewType(b.getInt16Ty()), phi.getNumIncomingValues());
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    llvm::BasicBlock* from = phi.getIncomingBlock(i);
    carried->addIncoming(bits_of(phi.getIncomingValue(i), *from->getTerminator()), from);
  }
  b.SetInsertPoint(phi.getParent(), phi.getParent()->getFirstInsertionPt());
  return b.CreateBitCast(carried, phi.getType());
}

// Selects, phis, loads and stores do no arithmetic: they move the bits. Null for other
// instructions, and for those that stay.
Value* move_bits(Instruction& instruction) {
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    if (is_vector_of(store->getValueOperand()->getType(), Type::BFloatTyID))
      store->setOperand(0, bits_of(store->getValueOperand(), instruction));
    return nullptr;
  }
  if (!is_vector_of(instruction.getType(), Type::BFloatTyID)) return nullptr;
  if (auto* choice = llvm::dyn_cast<llvm::SelectInst>(&instruction)) return select_bits(*choice);
  if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) return carry_bits(*phi);
  return nullptr;
}

void replace_all(llvm::Module& module, llvm::function_ref<Value*(Instruction&)> replacement_of) {
  for (llvm::Function& function : module) {
    for (Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      Value* replacement = replacement_of(instruction);
      if (!replacement) continue;
      instruction.replaceAllUsesWith(replacement);
      instruction.eraseFromParent();
    }
  }
}

}  // namespace

Value* bits_of(Value* floats, llvm::Instruction& user) {
  llvm::IRBuilder<> b(&user);
  Type* integers = floats->getType()->getWithNewType(b.getInt16Ty());
  if (auto* cast = llvm::dyn_cast<llvm::BitCastInst>(floats); cast && cast->getSrcTy() == integers)
    return cast->getOperand(0);
  if (auto* made = llvm::dyn_cast<Instruction>(floats))
    b.SetInsertPoint(&**made->getInsertionPointAfterDef());
  return b.CreateBitCast(floats, integers);
}

void expand_bfloat(llvm::Module& module) {
  replace_all(module, [](Instruction& instruction) {
    return Expansion(instruction, Type::BFloatTyID).expand();
  });
}

void expand_small_vectors(llvm::Module& module) {
  replace_all(module, move_bits);
  replace_all(module, [](Instruction& instruction) -> Value* {
    const bool of_halves = is_vector_of(instruction.getType(), Type::HalfTyID) ||
                           llvm::any_of(instruction.operand_values(), [](const Value* operand) {
                             return is_vector_of(operand->getType(), Type::HalfTyID);
                           });
    return of_halves ? Expansion(instruction, Type::HalfTyID).expand() : nullptr;
  });
}

}  // namespace metal::cpu
