#include "metal/cpu/vectorizer/simdgroup_matrix.h"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
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
// second lane, each twice, and a row of B a pair of lanes, repeated: what processors load that
// way from memory without shuffling. Registers that take two quarters hold those of one half of
// the columns, and a column of A serves all of C.
//
// Hence memory, and a function: a scheduler that sees several products at once keeps C's vectors
// in no registers.
class MultiplyAccumulate {
 public:
  explicit MultiplyAccumulate(Widener& w)
      : b_(w.function().getContext()),
        quarter_(llvm::FixedVectorType::get(b_.getFloatTy(), 8)),
        both_(llvm::FixedVectorType::get(b_.getFloatTy(), 16)) {
    if (w.costs().isTypeLegal(both_)) row_halves_ = 1;
    const llvm::SmallVector<llvm::Type*> pointers(6, b_.getPtrTy());
    code_ = w.create_helper(llvm::FunctionType::get(b_.getVoidTy(), pointers, false),
                            kMultiplyAccumulate);
    for (llvm::Argument& argument : code_->args()) argument.addAttr(llvm::Attribute::NoCapture);
  }

  llvm::Function* build() {
    b_.SetInsertPoint(llvm::BasicBlock::Create(b_.getContext(), "entry", code_));
    Value* sums[2][2][2];  // by element, half of the rows and half of the columns
    for_each_part([&](unsigned element, unsigned rows, unsigned columns) {
      sums[element][rows][columns] = load(4 + element, rows, columns);
    });
    for (unsigned k = 0; k < 8; ++k) {
      Value* a[2];
      for (unsigned rows = 0; rows < row_halves_; ++rows) a[rows] = column_of_a(k, rows);
      for_each_part([&](unsigned element, unsigned rows, unsigned columns) {
        Value*& sum = sums[element][rows][columns];
        sum = b_.CreateIntrinsic(llvm::Intrinsic::fmuladd, sum->getType(),
                                 {a[rows], row_of_b(k, columns, element), sum});
      });
    }
    for_each_part([&](unsigned element, unsigned rows, unsigned columns) {
      store(sums[element][rows][columns], 4 + element, rows, columns);
    });
    b_.CreateRetVoid();
    return code_;
  }

 private:
  void for_each_part(llvm::function_ref<void(unsigned, unsigned, unsigned)> action) const {
    for (unsigned rows = 0; rows < row_halves_; ++rows) {
      for (unsigned columns = 0; columns < 2; ++columns) {
        for (unsigned element = 0; element < 2; ++element) action(element, rows, columns);
      }
    }
  }

  Value* address(unsigned argument, unsigned lane) {
    return b_.CreateConstGEP1_32(b_.getFloatTy(), code_->getArg(argument), lane);
  }

  Value* load_quarter(unsigned argument, unsigned rows, unsigned columns) {
    return b_.CreateAlignedLoad(quarter_, address(argument, (rows * 2 + columns) * 8),
                                llvm::Align(32));
  }

  Value* load(unsigned argument, unsigned rows, unsigned columns) {
    Value* quarter = load_quarter(argument, rows, columns);
    if (row_halves_ == 2) return quarter;
    return llvm::concatenateVectors(b_, {quarter, load_quarter(argument, 1, columns)});
  }

  void store(Value* part, unsigned argument, unsigned rows, unsigned columns) {
    for (unsigned i = 0; i < 2 / row_halves_; ++i) {
      Value* quarter = b_.CreateExtractVector(quarter_, part, b_.getInt64(i * 8));
      b_.CreateAlignedStore(quarter, address(argument, ((rows + i) * 2 + columns) * 8),
                            llvm::Align(32));
    }
  }

  // Column k in half of the rows, or in all.
  Value* column_of_a(unsigned k, unsigned rows) {
    Value* lanes = load(k % 2, rows, k / 4);
    llvm::SmallVector<int> picks;
    for (unsigned lane = 0; lane < lanes_of_part(); ++lane)
      picks.push_back(static_cast<int>(lane / 2 * 2 + k / 2 % 2));
    return b_.CreateShuffleVector(lanes, picks);
  }

  // Row k in the columns of the left or right half that are a lane's first or second element.
  Value* row_of_b(unsigned k, unsigned columns, unsigned element) {
    Value* pair = b_.CreateAlignedLoad(b_.getDoubleTy(),
                                       address(2 + element, (k / 4 * 2 + columns) * 8 + k % 4 * 2),
                                       llvm::Align(8));
    return b_.CreateBitCast(b_.CreateVectorSplat(lanes_of_part() / 2, pair),
                            row_halves_ == 2 ? quarter_ : both_);
  }

  unsigned lanes_of_part() const { return 16 / row_halves_; }

  llvm::IRBuilder<> b_;
  llvm::FixedVectorType* quarter_;  // of the lanes
  llvm::FixedVectorType* both_;     // two of them
  unsigned row_halves_ = 2;         // parts that C's rows are in
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
