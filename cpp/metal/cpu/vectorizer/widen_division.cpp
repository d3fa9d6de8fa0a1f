#include "metal/cpu/vectorizer/widen_division.h"

#include "llvm/IR/MDBuilder.h"

namespace metal::cpu {
namespace {

using llvm::BinaryOperator;
using llvm::ConstantInt;
using llvm::Instruction;
using llvm::Value;

bool is_remainder(const BinaryOperator& operation) {
  return operation.getOpcode() == Instruction::URem || operation.getOpcode() == Instruction::SRem;
}

bool is_signed(const BinaryOperator& operation) {
  return operation.getOpcode() == Instruction::SDiv || operation.getOpcode() == Instruction::SRem;
}

// Lane 0's quotient and remainder of numbers that grow from lane to lane by a pattern.
struct Together {
  Value* quotient;
  Value* rest;
  Value* holds;  // i1: the quotient is the other lanes' too
};

Together divide_first(Widener& w, const Shape& shape, Value* first, Value* divisor) {
  llvm::IRBuilder<>& b = w.builder();
  Value* quotient = b.CreateUDiv(first, divisor);
  Value* rest = b.CreateSub(first, b.CreateMul(quotient, divisor));
  const auto span = static_cast<uint64_t>(shape.offset(w.width() - 1));
  // All in one piece of the length of the divisor.
  Value* room = b.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, divisor,
                                        ConstantInt::get(first->getType(), span));
  Value* holds = b.CreateICmpULT(rest, room);
  return {quotient, rest, holds};
}

// 32-bit numbers divide exactly in double precision, which has vector instructions. Lanes that do
// not run divide by whatever they have: by 1 instead.
Value* divide(Widener& w, BinaryOperator& operation, Value* a, Value* b) {
  llvm::IRBuilder<>& builder = w.builder();
  llvm::Type* type = operation.getType();
  if (llvm::isa<llvm::Constant>(b)) return builder.CreateBinOp(operation.getOpcode(), a, b);
  b = w.where_active(b, ConstantInt::get(type, 1));
  if (type->getIntegerBitWidth() > 32) {
    if (is_signed(operation)) a = w.where_active(a, ConstantInt::get(type, 1));
    return builder.CreateBinOp(operation.getOpcode(), a, b);
  }
  llvm::Type* wide = w.wide_type(builder.getDoubleTy());
  auto to_double = [&](Value* number) {
    return is_signed(operation) ? builder.CreateSIToFP(number, wide)
                                : builder.CreateUIToFP(number, wide);
  };
  Value* exact = builder.CreateFDiv(to_double(a), to_double(b));
  llvm::Type* words = w.wide_type(builder.getInt32Ty());
  Value* quotient;
  if (is_signed(operation) || type->getIntegerBitWidth() < 32) {
    quotient = builder.CreateTrunc(builder.CreateFPToSI(exact, words), w.wide_type(type));
  } else {
    // Shifted into the range of signed numbers, for which processors have a conversion.
    constexpr double kHalf = 2147483648.0;
    Value* whole = builder.CreateUnaryIntrinsic(llvm::Intrinsic::floor, exact);
    Value* shifted = builder.CreateFSub(whole, llvm::ConstantFP::get(wide, kHalf));
    quotient = builder.CreateXor(builder.CreateFPToSI(shifted, words),
                                 ConstantInt::get(words, uint64_t{1} << 31));
  }
  return is_remainder(operation) ? builder.CreateSub(a, builder.CreateMul(quotient, b)) : quotient;
}

// Indices are often divided by sizes that keep the lanes of a unit together: one division for all.
Value* divide_by_uniform(Widener& w, BinaryOperator& operation, Value* a, Value* b) {
  llvm::IRBuilder<>& builder = w.builder();
  auto each_lane = [&] { return divide(w, operation, a, b); };
  Value* divisor = w.first(operation.getOperand(1));
  const Shape shape = w.shape(operation.getOperand(0));
  if (shape.is_pattern() && shape.exact() && shape.no_wrap() && !is_signed(operation) &&
      llvm::is_sorted(shape.offsets())) {
    Value* first = w.first(operation.getOperand(0));
    const Together together = divide_first(w, shape, first, divisor);
    auto at_once = [&]() -> Value* {
      if (!is_remainder(operation)) return w.splat(together.quotient);
      return builder.CreateAdd(w.splat(together.rest), w.offsets(shape, first->getType()));
    };
    return w.either(together.holds, at_once, each_lane);
  }
  Value* first = builder.CreateExtractElement(a, uint64_t{0});
  auto at_once = [&]() -> Value* {
    return w.splat(builder.CreateBinOp(operation.getOpcode(), first, divisor));
  };
  return w.either(w.all(builder.CreateICmpEQ(a, w.splat(first))), at_once, each_lane);
}

}  // namespace

void widen_division(Widener& w, BinaryOperator& operation) {
  Value* a = w.vector(operation.getOperand(0));
  Value* b = w.vector(operation.getOperand(1));
  const bool one_divisor = w.shape(operation.getOperand(1)).is_uniform();
  const bool at_once = one_divisor && !llvm::isa<llvm::Constant>(b) && !w.mask();
  w.set_vector(&operation,
               at_once ? divide_by_uniform(w, operation, a, b) : divide(w, operation, a, b));
}

void widen_division_together(Widener& w, llvm::CallInst& call, bool is_quotient,
                             llvm::BasicBlock* give_up) {
  llvm::IRBuilder<>& b = w.builder();
  if (w.shape(&call).is_varying()) {
    Value* number = w.vector(call.getArgOperand(0));
    Value* divisor = w.vector(call.getArgOperand(1));
    w.set_vector(&call,
                 is_quotient ? b.CreateUDiv(number, divisor) : b.CreateURem(number, divisor));
    return;
  }
  const Together together =
      divide_first(w, w.shape(call.getArgOperand(0)), w.first(call.getArgOperand(0)),
                   w.first(call.getArgOperand(1)));
  auto* next = llvm::BasicBlock::Create(b.getContext(), "together", &w.function());
  next->moveAfter(b.GetInsertBlock());
  b.CreateCondBr(together.holds, next, give_up,
                 llvm::MDBuilder(b.getContext()).createLikelyBranchWeights());
  b.SetInsertPoint(next);
  w.set_first(&call, is_quotient ? together.quotient : together.rest);
}

}  // namespace metal::cpu
