#include "metal/cpu/vectorizer/widen_lane_operations.h"

#include <array>
#include <optional>

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/kernel_form.h"
#include "metal/cpu/vectorizer/lane_arithmetic.h"
#include "metal/cpu/vectorizer/split_at_barriers.h"

namespace metal::cpu {
namespace {

using llvm::ConstantInt;
using llvm::Value;

// Threads wait for those of other units.
void barrier(Widener& w, llvm::CallInst& call) {
  llvm::IRBuilder<>& b = w.builder();
  const auto* scope = llvm::cast<ConstantInt>(call.getArgOperand(0));
  if (scope->isZero()) return;  // lanes of a unit are never apart
  b.CreateCall(w.function().getParent()->getOrInsertFunction(
      kBarrierCall, llvm::FunctionType::get(b.getVoidTy(), false)));
}

std::optional<LaneFold> find_fold(llvm::StringRef name, bool is_unsigned) {
  if (name == "sum") return LaneFold::Sum;
  if (name == "product") return LaneFold::Product;
  if (name == "min") return is_unsigned ? LaneFold::UnsignedMin : LaneFold::Min;
  if (name == "max") return is_unsigned ? LaneFold::UnsignedMax : LaneFold::Max;
  if (name == "and") return LaneFold::And;
  if (name == "or") return LaneFold::Or;
  if (name == "xor") return LaneFold::Xor;
  return std::nullopt;
}

// Lanes without an active source keep what they have.
Value* shuffle(Widener& w, llvm::CallInst& call) {
  llvm::IRBuilder<>& b = w.builder();
  Value* own = w.vector(call.getArgOperand(0));
  Value* source = b.CreateAnd(w.vector(call.getArgOperand(1)),
                              ConstantInt::get(w.wide_type(b.getInt32Ty()), w.width() - 1));
  llvm::SmallVector<int> known;
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(source)) {
    for (unsigned lane = 0; lane < w.width(); ++lane) {
      const auto* from = llvm::dyn_cast<ConstantInt>(constant->getAggregateElement(lane));
      if (from) known.push_back(static_cast<int>(from->getZExtValue()));
    }
  }
  auto permute = [&](Value* values) -> Value* {
    if (known.size() == w.width()) return b.CreateShuffleVector(values, known);
    llvm::Type* element = values->getType()->getScalarType();
    llvm::AllocaInst* memory = w.scratch(values->getType(), "shuffled");
    b.CreateStore(values, memory);
    Value* result = llvm::PoisonValue::get(values->getType());
    for (unsigned lane = 0; lane < w.width(); ++lane) {
      Value* from = b.CreateGEP(element, memory, b.CreateExtractElement(source, lane));
      result = b.CreateInsertElement(result, b.CreateLoad(element, from), lane);
    }
    return result;
  };
  Value* taken = permute(own);
  if (!w.mask()) return taken;
  Value* bits = b.CreateVectorSplat(w.width(), w.mask_bits());
  Value* shift = b.CreateZExtOrTrunc(source, bits->getType());
  Value* active = b.CreateTrunc(b.CreateLShr(bits, shift), w.wide_type(b.getInt1Ty()));
  return b.CreateSelect(active, taken, own);
}

Value* shuffle_from_one(Widener& w, llvm::CallInst& call) {
  llvm::IRBuilder<>& b = w.builder();
  Value* lane = b.CreateAnd(w.first(call.getArgOperand(1)), b.getInt32(w.width() - 1));
  return b.CreateExtractElement(w.vector(call.getArgOperand(0)), lane);
}

// Eight lanes of a vector: a quarter of a SIMD-group.
Value* quarter(Widener& w, Value* vector, unsigned number) {
  return w.builder().CreateShuffleVector(vector, llvm::createSequentialMask(number * 8, 8, 0));
}

using Quarters = std::array<std::array<Value*, 4>, 2>;  // by element of a lane, by quarter

Quarters quarters_of(Widener& w, llvm::CallInst& call, unsigned operand) {
  llvm::Constant* zero = llvm::ConstantFP::getZero(w.builder().getFloatTy());
  Quarters parts;
  for (unsigned element = 0; element < 2; ++element) {
    Value* lanes = w.where_active(w.vector(call.getArgOperand(operand + element)), zero);
    for (unsigned number = 0; number < 4; ++number)
      parts[element][number] = quarter(w, lanes, number);
  }
  return parts;
}

// D = A B + C without moving C: quarters 0 and 1 of the lanes hold rows 0 to 3 of an 8 x 8 matrix,
// 2 and 3 the rows 4 to 7; the odd ones hold columns 4 to 7. In a quarter every two lanes share a
// row: the first has columns c and c + 1, the second c + 2 and c + 3. So a column of A is every
// second lane, each twice, and a row of B a pair of lanes, four times.
std::pair<Value*, Value*> multiply_accumulate(Widener& w, llvm::CallInst& call) {
  llvm::IRBuilder<>& b = w.builder();
  const Quarters left = quarters_of(w, call, 0);
  const Quarters right = quarters_of(w, call, 2);
  Quarters sum = quarters_of(w, call, 4);
  for (unsigned k = 0; k < 8; ++k) {
    const int second = static_cast<int>(k / 2 % 2);
    const int pair = static_cast<int>(k % 4) * 2;
    const int column[] = {second,     second,     second + 2, second + 2,
                          second + 4, second + 4, second + 6, second + 6};
    const int row[] = {pair, pair + 1, pair, pair + 1, pair, pair + 1, pair, pair + 1};
    for (unsigned number = 0; number < 4; ++number) {
      Value* a = b.CreateShuffleVector(left[k % 2][(number & 2) + k / 4], column);
      for (unsigned element = 0; element < 2; ++element) {
        Value* c = b.CreateShuffleVector(right[element][(k / 4) * 2 + (number & 1)], row);
        sum[element][number] =
            b.CreateIntrinsic(llvm::Intrinsic::fmuladd, a->getType(), {a, c, sum[element][number]});
      }
    }
  }
  return {llvm::concatenateVectors(b, sum[0]), llvm::concatenateVectors(b, sum[1])};
}

// A lane's two results as one number of 64 bits; code that takes it apart at once gets them as they
// are.
void widen_multiply_accumulate(Widener& w, llvm::CallInst& call) {
  llvm::IRBuilder<>& b = w.builder();
  const auto [low, high] = multiply_accumulate(w, call);
  llvm::Type* words = w.wide_type(b.getInt32Ty());
  llvm::Type* longs = w.wide_type(b.getInt64Ty());
  Value* low_bits = b.CreateBitCast(low, words);
  Value* high_bits = b.CreateBitCast(high, words);
  w.set_halves(&call, low_bits, high_bits);
  w.set_vector(&call, b.CreateOr(b.CreateZExt(low_bits, longs),
                                 b.CreateShl(b.CreateZExt(high_bits, longs), 32)));
}

}  // namespace

bool widen_lane_operation(Widener& w, llvm::CallInst& call) {
  llvm::IRBuilder<>& b = w.builder();
  llvm::StringRef name = call.getCalledFunction()->getName();
  name.consume_front(compiler::kRuntimePrefix);
  if (name == "barrier") {
    barrier(w, call);
    return true;
  }
  if (name.starts_with("simdgroup_multiply_accumulate")) {
    widen_multiply_accumulate(w, call);
    return true;
  }
  if (!name.consume_front("simd_")) return false;
  if (name == "ballot") {
    Value* votes = b.CreateAnd(w.mask_or_all(), w.vector(call.getArgOperand(0)));
    w.set_first(&call, w.bits_of(votes));
    return true;
  }
  if (name == "active_mask") {
    w.set_first(&call, w.mask_bits());
    return true;
  }
  if (name.starts_with("shuffle")) {
    if (w.shape(&call).is_uniform()) {
      w.set_first(&call, shuffle_from_one(w, call));
    } else {
      w.set_vector(&call, shuffle(w, call));
    }
    return true;
  }
  const bool inclusive = name.consume_front("prefix_inclusive_");
  const bool scan = inclusive || name.consume_front("prefix_exclusive_");
  const auto [operation, suffix] = name.split('_');
  const auto fold = find_fold(operation, suffix.starts_with("u"));
  if (!fold) return false;
  llvm::IRBuilder<>::FastMathFlagGuard guard(b);
  if (llvm::isa<llvm::FPMathOperator>(call)) b.setFastMathFlags(call.getFastMathFlags());
  Value* operand = w.vector(call.getArgOperand(0));
  if (scan) {
    w.set_vector(&call, scan_lanes(w, *fold, operand, inclusive));
  } else {
    w.set_first(&call, fold_lanes(w, *fold, operand));
  }
  return true;
}

}  // namespace metal::cpu
