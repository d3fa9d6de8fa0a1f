#include "metal/cpu/vectorizer/multiply_accumulate.h"

#include <map>

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"

namespace metal::cpu {
namespace {

using llvm::Value;

constexpr unsigned kQuarter = 8;  // lanes

llvm::FixedVectorType* half_of_lanes(llvm::LLVMContext& context) {
  return llvm::FixedVectorType::get(llvm::Type::getFloatTy(context), 2 * kQuarter);
}

// C += A B without moving C: quarters 0 and 1 of the lanes hold rows 0 to 3 of an 8 x 8 matrix,
// 2 and 3 the rows 4 to 7; the odd ones hold columns 4 to 7. In a quarter every two lanes share a
// row: the first has columns c and c + 1, the second c + 2 and c + 3. So a column of A is every
// second lane, each twice, and a row of B a pair of lanes, repeated: what processors load that
// way from memory without shuffling.
//
// A register that takes half of the lanes holds two quarters with the same columns: one with a
// column of A serves all of C.
//
// Hence memory, and a function: a scheduler that sees more products at once than registers can hold
// the sums of keeps none of them there. That memory may keep the quarters in order: 0 2 1 3, as
// registers take them.
class MultiplyAccumulate {
 public:
  MultiplyAccumulate(llvm::Function& code, const Products& products, bool halves, bool in_order)
      : b_(code.getContext()),
        code_(code),
        quarter_(llvm::FixedVectorType::get(b_.getFloatTy(), kQuarter)),
        halves_(halves),
        in_order_(in_order) {
    const unsigned first_b = 2 * products.rows, first_c = first_b + 2 * products.columns;
    for (unsigned column = 0; column < products.columns; ++column) {
      for (unsigned row = 0; row < products.rows; ++row) {
        const unsigned b = first_b + 2 * column;
        const unsigned c = first_c + 2 * (row * products.columns + column);
        add_sums(2 * row, b, c);
      }
    }
  }

  void write() {
    b_.SetInsertPoint(llvm::BasicBlock::Create(b_.getContext(), "entry", &code_));
    for (Sum& sum : sums_) sum.value = load(sum.c, sum.rows, sum.columns);
    for (unsigned k = 0; k < 8; ++k) add_outer_product(k);
    for (const Sum& sum : sums_) store(sum);
    b_.CreateRetVoid();
  }

 private:
  // What a register holds of a C.
  struct Sum {
    unsigned a, b, c;  // the arguments
    unsigned rows;     // which part of them
    unsigned columns;
    Value* value = nullptr;
  };

  void add_sums(unsigned a, unsigned b, unsigned c) {
    for (unsigned rows = 0; rows < row_parts(); ++rows) {
      for (unsigned columns = 0; columns < 2; ++columns) {
        for (unsigned element = 0; element < 2; ++element)
          sums_.push_back({a, b + element, c + element, rows, columns});
      }
    }
  }

  void add_outer_product(unsigned k) {
    std::map<std::pair<unsigned, unsigned>, Value*> columns, rows;
    for (Sum& sum : sums_) {
      Value*& column = columns[{sum.a, sum.rows}];
      Value*& row = rows[{sum.b, sum.columns}];
      if (!column) column = column_of_a(sum.a, k, sum.rows);
      if (!row) row = row_of_b(sum.b, k, sum.columns);
      sum.value = b_.CreateIntrinsic(llvm::Intrinsic::fmuladd, sum.value->getType(),
                                     {column, row, sum.value});
    }
    if (in_order_) {
      for (Sum& sum : sums_) hold(sum.value);
    }
  }

  // Here the sum is in a register. A scheduler that may move loads ahead of earlier products runs
  // out of registers for sums. (The constraint names any of the 32 of x86.)
  void hold(Value*& value) {
    auto* type = llvm::FunctionType::get(value->getType(), {value->getType()}, false);
    value = b_.CreateCall(llvm::InlineAsm::get(type, "", "=v,0", /*hasSideEffects=*/true), {value});
  }

  unsigned row_parts() const { return halves_ ? 1 : 2; }
  unsigned lanes() const { return halves_ ? 2 * kQuarter : kQuarter; }

  Value* address(unsigned argument, unsigned lane) {
    return b_.CreateConstGEP1_32(b_.getFloatTy(), code_.getArg(argument), lane);
  }

  unsigned lane_of_quarter(unsigned rows, unsigned columns) const {
    return (in_order_ ? columns * 2 + rows : rows * 2 + columns) * kQuarter;
  }

  Value* quarter_at(unsigned argument, unsigned rows, unsigned columns) {
    return address(argument, lane_of_quarter(rows, columns));
  }

  Value* load(unsigned argument, unsigned rows, unsigned columns) {
    if (in_order_)
      return b_.CreateAlignedLoad(half_of_lanes(b_.getContext()), quarter_at(argument, 0, columns),
                                  llvm::Align(64));
    const llvm::Align align(32);
    Value* upper = b_.CreateAlignedLoad(quarter_, quarter_at(argument, rows, columns), align);
    if (!halves_) return upper;
    Value* lower = b_.CreateAlignedLoad(quarter_, quarter_at(argument, 1, columns), align);
    return llvm::concatenateVectors(b_, {upper, lower});
  }

  void store(const Sum& sum) {
    if (in_order_) {
      b_.CreateAlignedStore(sum.value, quarter_at(sum.c, 0, sum.columns), llvm::Align(64));
      return;
    }
    for (unsigned first = 0; first < lanes(); first += kQuarter) {
      Value* quarter =
          b_.CreateShuffleVector(sum.value, llvm::createSequentialMask(first, kQuarter, 0));
      b_.CreateAlignedStore(quarter, quarter_at(sum.c, sum.rows + first / kQuarter, sum.columns),
                            llvm::Align(32));
    }
  }

  // Where a quarter fills a register, each column is read anew: with the shuffle that is one
  // instruction, while there is no register to keep two columns in. (Volatile loads are not
  // merged.)
  Value* column_of_a(unsigned argument, unsigned k, unsigned rows) {
    Value* columns = load(argument + k % 2, rows, k / 4);
    if (!halves_ || in_order_) llvm::cast<llvm::LoadInst>(columns)->setVolatile(true);
    llvm::SmallVector<int> picks;
    for (unsigned lane = 0; lane < lanes(); ++lane)
      picks.push_back(static_cast<int>(lane / 2 * 2 + k / 2 % 2));
    return b_.CreateShuffleVector(columns, picks);
  }

  // Row k in the columns of the left or right half that are a lane's first or second element.
  Value* row_of_b(unsigned argument, unsigned k, unsigned columns) {
    Value* address = this->address(argument, lane_of_quarter(k / 4, columns) + k % 4 * 2);
    Value* pair = b_.CreateAlignedLoad(b_.getDoubleTy(), address, llvm::Align(8), in_order_);
    return b_.CreateBitCast(b_.CreateVectorSplat(lanes() / 2, pair),
                            llvm::FixedVectorType::get(b_.getFloatTy(), lanes()));
  }

  llvm::IRBuilder<> b_;
  llvm::Function& code_;
  llvm::FixedVectorType* quarter_;
  const bool halves_;    // registers take half of the lanes
  const bool in_order_;  // quarters lie in the order in which registers take them
  llvm::SmallVector<Sum> sums_;
};

}  // namespace

bool wants_quarters_in_order(llvm::LLVMContext& context, const llvm::TargetTransformInfo& costs) {
  return costs.isTypeLegal(half_of_lanes(context));
}

void write_multiply_accumulate(llvm::Function& code, const Products& products, bool in_order,
                               const llvm::TargetTransformInfo& costs) {
  const bool halves = costs.isTypeLegal(half_of_lanes(code.getContext()));
  MultiplyAccumulate(code, products, halves, in_order).write();
}

Products most_products(llvm::LLVMContext& context, const llvm::TargetTransformInfo& costs) {
  // Four fill half of the 32 registers that there are then.
  if (costs.isTypeLegal(half_of_lanes(context))) return {2, 2};
  return {1, 1};
}

}  // namespace metal::cpu
