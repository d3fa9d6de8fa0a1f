#include "metal/cpu/vectorizer/simdgroup_matrix.h"

#include "llvm/IR/Module.h"

namespace metal::cpu {
namespace {

using llvm::Value;

constexpr const char* kMultiplyAccumulate = "simd.multiply.accumulate";

// void (a0, a1, b0, b1, c0, c1): pointers to the lanes' elements of A, B and C, first and second by
// themselves.
//
// C += A B without moving C: quarters 0 and 1 of the lanes hold rows 0 to 3 of an 8 x 8 matrix,
// 2 and 3 the rows 4 to 7; the odd ones hold columns 4 to 7. In a quarter every two lanes share a
// row: the first has columns c and c + 1, the second c + 2 and c + 3. So a column of A is every
// second lane, each twice, and a row of B a pair of lanes, four times: what processors load that
// way from memory without shuffling. Hence memory, and a function: C's eight vectors fill half of
// the registers, and a scheduler that sees several products at once keeps none of them there.
class MultiplyAccumulate {
 public:
  explicit MultiplyAccumulate(Widener& w)
      : b_(w.function().getContext()), part_(llvm::FixedVectorType::get(b_.getFloatTy(), 8)) {
    const llvm::SmallVector<llvm::Type*> pointers(6, b_.getPtrTy());
    code_ = w.create_helper(llvm::FunctionType::get(b_.getVoidTy(), pointers, false),
                            kMultiplyAccumulate);
    for (llvm::Argument& argument : code_->args()) argument.addAttr(llvm::Attribute::NoCapture);
  }

  llvm::Function* build() {
    b_.SetInsertPoint(llvm::BasicBlock::Create(b_.getContext(), "entry", code_));
    Value* sums[2][4];
    for (unsigned element = 0; element < 2; ++element) {
      for (unsigned quarter = 0; quarter < 4; ++quarter)
        sums[element][quarter] = load(part_, 4 + element, quarter * 8);
    }
    for (unsigned k = 0; k < 8; ++k) {
      for (unsigned quarter = 0; quarter < 4; ++quarter) {
        Value* a = column_of_a(k, quarter / 2);
        for (unsigned element = 0; element < 2; ++element) {
          Value*& sum = sums[element][quarter];
          sum = b_.CreateIntrinsic(llvm::Intrinsic::fmuladd, part_,
                                   {a, row_of_b(k, quarter % 2, element), sum});
        }
      }
    }
    for (unsigned element = 0; element < 2; ++element) {
      for (unsigned quarter = 0; quarter < 4; ++quarter)
        b_.CreateAlignedStore(sums[element][quarter], address(4 + element, quarter * 8),
                              llvm::Align(32));
    }
    b_.CreateRetVoid();
    return code_;
  }

 private:
  Value* address(unsigned argument, unsigned lane) {
    return b_.CreateConstGEP1_32(b_.getFloatTy(), code_->getArg(argument), lane);
  }

  Value* load(llvm::Type* type, unsigned argument, unsigned lane) {
    return b_.CreateAlignedLoad(type, address(argument, lane), llvm::Align(type == part_ ? 32 : 8));
  }

  // Column k in the rows of the upper or lower half.
  Value* column_of_a(unsigned k, unsigned half) {
    Value* lanes = load(part_, k % 2, (half * 2 + k / 4) * 8);
    const int second = static_cast<int>(k / 2 % 2);
    return b_.CreateShuffleVector(lanes, {second, second, second + 2, second + 2, second + 4,
                                          second + 4, second + 6, second + 6});
  }

  // Row k in the columns of the left or right half that are a lane's first or second element.
  Value* row_of_b(unsigned k, unsigned half, unsigned element) {
    Value* pair = load(b_.getDoubleTy(), 2 + element, (k / 4 * 2 + half) * 8 + k % 4 * 2);
    return b_.CreateBitCast(b_.CreateVectorSplat(4, pair), part_);
  }

  llvm::IRBuilder<> b_;
  llvm::FixedVectorType* part_;  // a quarter of the lanes
  llvm::Function* code_;
};

// What an element of a result was taken from.
Value* origin(Value* value) {
  while (llvm::isa<llvm::BitCastInst, llvm::TruncInst>(value) ||
         (llvm::isa<llvm::BinaryOperator>(value) &&
          llvm::cast<llvm::BinaryOperator>(value)->getOpcode() == llvm::Instruction::LShr))
    value = llvm::cast<llvm::Instruction>(value)->getOperand(0);
  return value;
}

}  // namespace

void widen_multiply_accumulate(Widener& w, llvm::CallInst& call) {
  llvm::IRBuilder<>& b = w.builder();
  llvm::Constant* zero = llvm::ConstantFP::getZero(b.getFloatTy());
  llvm::SmallVector<Value*> arguments;
  for (unsigned i = 0; i < 6; ++i) {
    Value* operand = call.getArgOperand(i);
    Value* lanes = w.where_active(w.vector(operand), zero);
    const bool overwrites = i >= 4;
    arguments.push_back(overwrites ? w.take_from_memory(lanes, w.is_renewed(origin(operand), call))
                                   : w.in_memory(lanes));
  }
  llvm::Type* words = w.wide_type(b.getInt32Ty());
  llvm::Function* code = w.function().getParent()->getFunction(kMultiplyAccumulate);
  if (!code) code = MultiplyAccumulate(w).build();
  b.CreateCall(code, arguments);
  Value* parts[2];
  for (unsigned element = 0; element < 2; ++element) {
    parts[element] = b.CreateLoad(words, arguments[4 + element]);
    w.set_in_memory(parts[element], arguments[4 + element]);
  }
  llvm::Type* longs = w.wide_type(b.getInt64Ty());
  w.set_halves(&call, parts[0], parts[1]);
  w.set_vector(&call, b.CreateOr(b.CreateZExt(parts[0], longs),
                                 b.CreateShl(b.CreateZExt(parts[1], longs), 32)));
}

}  // namespace metal::cpu
