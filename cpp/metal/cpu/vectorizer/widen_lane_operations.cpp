#include "metal/cpu/vectorizer/widen_lane_operations.h"

#include <optional>

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

// Where lane and element number are in an 8 x 8 matrix: row by row.
unsigned place_in_matrix(unsigned lane, unsigned element) {
  const unsigned quad = lane / 4;
  const unsigned row = (quad & 4) + lane / 2 % 4;
  const unsigned column = (quad & 2) * 2 + lane % 2 * 2 + element;
  return row * 8 + column;
}

// Both elements of all lanes, as the matrix's rows one after the other.
Value* to_rows(Widener& w, Value* low, Value* high) {
  llvm::SmallVector<int> from(64);
  for (unsigned lane = 0; lane < 32; ++lane) {
    from[place_in_matrix(lane, 0)] = static_cast<int>(lane);
    from[place_in_matrix(lane, 1)] = static_cast<int>(lane + 32);
  }
  return w.builder().CreateShuffleVector(low, high, from);
}

Value* row_of(Widener& w, Value* matrix, unsigned row) {
  llvm::SmallVector<int> from(8);
  for (unsigned i = 0; i < 8; ++i) from[i] = static_cast<int>(row * 8 + i);
  return w.builder().CreateShuffleVector(matrix, from);
}

// D = A B + C, a row at a time.
Value* multiply_accumulate(Widener& w, llvm::CallInst& call) {
  llvm::IRBuilder<>& b = w.builder();
  llvm::Constant* zero = llvm::ConstantFP::getZero(b.getFloatTy());
  auto operand = [&](unsigned i) { return w.where_active(w.vector(call.getArgOperand(i)), zero); };
  Value* left = to_rows(w, operand(0), operand(1));
  Value* right = to_rows(w, operand(2), operand(3));
  Value* sum = to_rows(w, operand(4), operand(5));
  llvm::SmallVector<Value*> rows;
  for (unsigned i = 0; i < 8; ++i) {
    Value* row = row_of(w, sum, i);
    for (unsigned k = 0; k < 8; ++k) {
      llvm::SmallVector<int> same(8, static_cast<int>(i * 8 + k));
      row = b.CreateIntrinsic(llvm::Intrinsic::fmuladd, row->getType(),
                              {b.CreateShuffleVector(left, same), row_of(w, right, k), row});
    }
    rows.push_back(row);
  }
  while (rows.size() > 1) {
    llvm::SmallVector<Value*> joined;
    const auto* type = llvm::cast<llvm::FixedVectorType>(rows[0]->getType());
    llvm::SmallVector<int> both(2 * type->getNumElements());
    for (size_t i = 0; i < both.size(); ++i) both[i] = static_cast<int>(i);
    for (size_t i = 0; i < rows.size(); i += 2)
      joined.push_back(b.CreateShuffleVector(rows[i], rows[i + 1], both));
    rows = joined;
  }
  // A lane's two elements are neighbours: 64 bits.
  llvm::SmallVector<int> pairs(64);
  for (unsigned lane = 0; lane < 32; ++lane) {
    pairs[2 * lane] = static_cast<int>(place_in_matrix(lane, 0));
    pairs[2 * lane + 1] = static_cast<int>(place_in_matrix(lane, 1));
  }
  return b.CreateBitCast(b.CreateShuffleVector(rows[0], pairs), w.wide_type(b.getInt64Ty()));
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
    w.set_vector(&call, multiply_accumulate(w, call));
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
