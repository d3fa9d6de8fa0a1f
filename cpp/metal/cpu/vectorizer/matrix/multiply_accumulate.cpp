#include "metal/cpu/vectorizer/matrix/multiply_accumulate.h"

#include <map>

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "metal/compiler/checked_cast.h"

namespace metal::cpu {
namespace {

using llvm::Value;

constexpr unsigned kQuarter = 8;  // lanes

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
// the sums of keeps none of them there.
class MultiplyAccumulate {
 public:
  MultiplyAccumulate(llvm::Function& code, bool halves)
      : b_(llvm::BasicBlock::Create(code.getContext(), "entry", &code)),
        code_(code),
        quarter_(llvm::FixedVectorType::get(b_.getFloatTy(), kQuarter)),
        halves_(halves) {}

  void write() {
    for (unsigned rows = 0; rows < (halves_ ? 1 : 2); ++rows) {
      for (unsigned columns = 0; columns < 2; ++columns) {
        for (unsigned element = 0; element < 2; ++element)
          sums_.push_back({element, rows, columns, load(kC + element, rows, columns)});
      }
    }
    for (unsigned k = 0; k < 8; ++k) add_outer_product(k);
    for (const Sum& sum : sums_) store(sum);
    b_.CreateRetVoid();
  }

 private:
  enum Argument : unsigned { kA = 0, kB = 2, kC = 4 };

  // What a register holds of C.
  struct Sum {
    unsigned element;  // the lanes' first or second
    unsigned rows;     // which part of them
    unsigned columns;
    Value* value;
  };

  void add_outer_product(unsigned k) {
    std::map<unsigned, Value*> columns;
    std::map<std::pair<unsigned, unsigned>, Value*> rows;
    for (Sum& sum : sums_) {
      Value*& column = columns[sum.rows];
      Value*& row = rows[{sum.element, sum.columns}];
      if (!column) column = column_of_a(k, sum.rows);
      if (!row) row = row_of_b(sum.element, k, sum.columns);
      sum.value = b_.CreateIntrinsic(llvm::Intrinsic::fmuladd, sum.value->getType(),
                                     {column, row, sum.value});
    }
  }

  unsigned lanes() const { return halves_ ? 2 * kQuarter : kQuarter; }

  Value* address(unsigned argument, unsigned lane) {
    return b_.CreateConstGEP1_32(b_.getFloatTy(), code_.getArg(argument), lane);
  }

  Value* quarter_at(unsigned argument, unsigned rows, unsigned columns) {
    return address(argument, (rows * 2 + columns) * kQuarter);
  }

  Value* load(unsigned argument, unsigned rows, unsigned columns) {
    const llvm::Align align(32);
    Value* upper = b_.CreateAlignedLoad(quarter_, quarter_at(argument, rows, columns), align);
    if (!halves_) return upper;
    Value* lower = b_.CreateAlignedLoad(quarter_, quarter_at(argument, 1, columns), align);
    return llvm::concatenateVectors(b_, {upper, lower});
  }

  void store(const Sum& sum) {
    for (unsigned first = 0; first < lanes(); first += kQuarter) {
      Value* quarter =
          b_.CreateShuffleVector(sum.value, llvm::createSequentialMask(first, kQuarter, 0));
      b_.CreateAlignedStore(quarter,
                            quarter_at(kC + sum.element, sum.rows + first / kQuarter, sum.columns),
                            llvm::Align(32));
    }
  }

  // Where a quarter fills a register, each column is read anew: with the shuffle that is one
  // instruction, while there is no register to keep two columns in. (Volatile loads are not
  // merged.)
  Value* column_of_a(unsigned k, unsigned rows) {
    Value* columns = load(kA + k % 2, rows, k / 4);
    if (!halves_) checked_cast<llvm::LoadInst>(columns)->setVolatile(true);
    llvm::SmallVector<int> picks;
    for (unsigned lane = 0; lane < lanes(); ++lane)
      picks.push_back(static_cast<int>(lane / 2 * 2 + k / 2 % 2));
    return b_.CreateShuffleVector(columns, picks);
  }

  // Row k in the columns of the left or right half that are a lane's first or second element.
  Value* row_of_b(unsigned element, unsigned k, unsigned columns) {
    Value* address = this->address(kB + element, (k / 4 * 2 + columns) * kQuarter + k % 4 * 2);
    Value* pair = b_.CreateAlignedLoad(b_.getDoubleTy(), address, llvm::Align(8));
    return b_.CreateBitCast(b_.CreateVectorSplat(lanes() / 2, pair),
                            llvm::FixedVectorType::get(b_.getFloatTy(), lanes()));
  }

  llvm::IRBuilder<> b_;
  llvm::Function& code_;
  llvm::FixedVectorType* quarter_;
  const bool halves_;  // registers take half of the lanes
  llvm::SmallVector<Sum> sums_;
};

}  // namespace

void write_multiply_accumulate(llvm::Function& code, const llvm::TargetTransformInfo& costs) {
  auto* half_of_lanes =
      llvm::FixedVectorType::get(llvm::Type::getFloatTy(code.getContext()), 2 * kQuarter);
  MultiplyAccumulate(code, costs.isTypeLegal(half_of_lanes)).write();
}

}  // namespace metal::cpu
