#include "metal/cpu/vectorizer/widen/widen_division.h"

namespace metal::cpu {
namespace {

using llvm::ConstantInt;
using llvm::Instruction;
using llvm::Value;
using Opcode = Instruction::BinaryOps;

bool is_remainder(Opcode opcode) {
  return opcode == Instruction::URem || opcode == Instruction::SRem;
}

bool is_signed(Opcode opcode) { return opcode == Instruction::SDiv || opcode == Instruction::SRem; }

// The divisor, or 1 in inactive lanes in which the division would trap.
Value* safe_divisor(llvm::IRBuilder<>& b, Opcode opcode, Value* dividend, Value* divisor) {
  llvm::Type* type = divisor->getType();
  Value* bad = b.CreateICmpEQ(divisor, llvm::Constant::getNullValue(type));
  if (is_signed(opcode)) {
    const llvm::APInt smallest = llvm::APInt::getSignedMinValue(type->getScalarSizeInBits());
    Value* overflows = b.CreateAnd(b.CreateICmpEQ(divisor, llvm::Constant::getAllOnesValue(type)),
                                   b.CreateICmpEQ(dividend, ConstantInt::get(type, smallest)));
    bad = b.CreateOr(bad, overflows);
  }
  return b.CreateSelect(bad, ConstantInt::get(type, 1), divisor);
}

// Lane 0's quotient and remainder, for dividends with offsets.
struct Coherent {
  Value* quotient;
  Value* rest;
  Value* holds;  // i1: whether all lanes have this quotient
};

Coherent divide_first(Widener& w, const Shape& shape, Opcode opcode, Value* first, Value* divisor) {
  llvm::IRBuilder<>& b = w.builder();
  Value* quotient = b.CreateUDiv(first, divisor);
  Value* rest = b.CreateSub(first, b.CreateMul(quotient, divisor));
  const auto span = static_cast<uint64_t>(shape.offset(w.width() - 1));
  // All lanes have lane 0's quotient if the largest offset does not reach the next multiple of the
  // divisor, and if no dividend wraps around.
  Value* room = b.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, divisor,
                                        ConstantInt::get(first->getType(), span));
  Value* holds = b.CreateICmpULT(rest, room);
  llvm::Type* type = first->getType();
  if (is_signed(opcode)) {
    // Integers that are not negative are divided as unsigned ones are.
    const llvm::APInt largest = llvm::APInt::getSignedMaxValue(type->getIntegerBitWidth());
    holds = b.CreateAnd(holds, b.CreateICmpULE(first, ConstantInt::get(type, largest - span)));
    holds = b.CreateAnd(holds, b.CreateICmpSGT(divisor, ConstantInt::get(type, 0)));
  } else if (!shape.no_wrap().as_unsigned) {
    holds = b.CreateAnd(holds, b.CreateICmpULE(first, ConstantInt::get(type, ~span)));
  }
  return {quotient, rest, holds};
}

// Divides integers of 32 bits in double precision, which is exact and has vector instructions.
Value* divide(Widener& w, Opcode opcode, Value* a, Value* b) {
  llvm::IRBuilder<>& builder = w.builder();
  llvm::Type* type = a->getType()->getScalarType();
  if (type->getIntegerBitWidth() > 32 || llvm::isa<llvm::Constant>(b))
    return builder.CreateBinOp(opcode, a, safe_divisor(builder, opcode, a, b));
  llvm::Type* wide = w.wide_type(builder.getDoubleTy());
  auto to_double = [&](Value* integer) {
    return is_signed(opcode) ? builder.CreateSIToFP(integer, wide)
                             : builder.CreateUIToFP(integer, wide);
  };
  Value* exact = builder.CreateFDiv(to_double(a), to_double(b));
  llvm::Type* words = w.wide_type(builder.getInt32Ty());
  Value* quotient;
  if (is_signed(opcode) || type->getIntegerBitWidth() < 32) {
    quotient = builder.CreateTrunc(builder.CreateFPToSI(exact, words), w.wide_type(type));
  } else {
    // Unsigned integers are shifted into the range of signed ones, which processors can convert.
    constexpr double kHalf = 2147483648.0;
    Value* whole = builder.CreateUnaryIntrinsic(llvm::Intrinsic::floor, exact);
    Value* shifted = builder.CreateFSub(whole, llvm::ConstantFP::get(wide, kHalf));
    quotient = builder.CreateXor(builder.CreateFPToSI(shifted, words),
                                 ConstantInt::get(words, uint64_t{1} << 31));
  }
  return is_remainder(opcode) ? builder.CreateSub(a, builder.CreateMul(quotient, b)) : quotient;
}

// The divisors of indices often give all lanes of a gang one quotient. Then one division is enough.
Value* divide_by_uniform(Widener& w, llvm::BinaryOperator& operation, Value* a, Value* b) {
  const Opcode opcode = operation.getOpcode();
  llvm::IRBuilder<>& builder = w.builder();
  auto each_lane = [&] { return divide(w, opcode, a, b); };
  Value* divisor = w.first(operation.getOperand(1));
  const Shape shape = w.shape(operation.getOperand(0));
  if (shape.has_offsets() && shape.exact() && llvm::is_sorted(shape.offsets())) {
    Value* first = w.first(operation.getOperand(0));
    const Coherent coherent = divide_first(w, shape, opcode, first, divisor);
    auto at_once = [&]() -> Value* {
      if (!is_remainder(opcode)) return w.splat(coherent.quotient);
      return builder.CreateAdd(w.splat(coherent.rest), w.offsets(shape, first->getType()));
    };
    return w.either(coherent.holds, at_once, each_lane);
  }
  Value* first = builder.CreateExtractElement(a, uint64_t{0});
  auto at_once = [&]() -> Value* { return w.splat(builder.CreateBinOp(opcode, first, divisor)); };
  return w.either(w.all(builder.CreateICmpEQ(a, w.splat(first))), at_once, each_lane);
}

}  // namespace

void widen_division(Widener& w, llvm::BinaryOperator& operation) {
  Value* a = w.vector(operation.getOperand(0));
  Value* b = w.vector(operation.getOperand(1));
  const bool one_divisor = w.shape(operation.getOperand(1)).is_uniform();
  const bool at_once = one_divisor && !llvm::isa<llvm::Constant>(b) && !w.mask();
  w.set_vector(&operation, at_once ? divide_by_uniform(w, operation, a, b)
                                   : divide(w, operation.getOpcode(), a, b));
}

void widen_coherent_division(Widener& w, llvm::CallInst& call, Opcode opcode) {
  if (w.shape(&call).is_varying()) {
    w.set_vector(
        &call, divide(w, opcode, w.vector(call.getArgOperand(0)), w.vector(call.getArgOperand(1))));
    return;
  }
  const Coherent coherent =
      divide_first(w, w.shape(call.getArgOperand(0)), opcode, w.first(call.getArgOperand(0)),
                   w.first(call.getArgOperand(1)));
  w.assume(coherent.holds);
  w.set_first(&call, is_remainder(opcode) ? coherent.rest : coherent.quotient);
}

}  // namespace metal::cpu
