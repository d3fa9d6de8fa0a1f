#include "metal/cpu/vectorizer/widen/widen_lane_operations.h"

#include <optional>

#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/kernel_form.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/control/descending_barriers.h"
#include "metal/cpu/vectorizer/matrix/whole_matrices.h"
#include "metal/cpu/vectorizer/widen/lane_arithmetic.h"

namespace metal::cpu {
namespace {

using llvm::ConstantInt;
using llvm::Value;

// Threads wait for those of other gangs. LLVM must not make a copy of the barrier for each of the
// ways to it: gangs that take different ways would come to different barriers.
void barrier(Widener& w, llvm::CallInst& call) {
  llvm::IRBuilder<>& b = w.builder();
  const auto* scope = checked_cast<ConstantInt>(call.getArgOperand(0));
  if (scope->isZero()) return;  // the lanes of a gang run in lockstep
  auto callee = w.function().getParent()->getOrInsertFunction(
      kBarrier, llvm::FunctionType::get(b.getVoidTy(), false));
  checked_cast<llvm::Function>(callee.getCallee())->setConvergent();
  llvm::CallInst* wide = b.CreateCall(callee);
  if (is_descending(call)) mark_descending(*wide);
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

// Lanes whose source is inactive keep their own value.
Value* shuffle(Widener& w, llvm::CallInst& call) {
  llvm::IRBuilder<>& b = w.builder();
  Value* own = w.vector(call.getArgOperand(0));
  Value* source = b.CreateAnd(w.frozen(w.vector(call.getArgOperand(1))),
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
  llvm::Type* type = call.getType();
  if (llvm::isa<ConstantInt>(lane) || type->isIntegerTy(1))
    return b.CreateExtractElement(w.vector(call.getArgOperand(0)), lane);
  return b.CreateLoad(type, b.CreateGEP(type, w.in_memory(call.getArgOperand(0)), lane));
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
  if (name.starts_with("simdgroup_")) {
    widen_matrix_operation(w, call);
    return true;
  }
  if (!name.consume_front("simd_")) return false;
  if (name == "ballot") {
    Value* votes = w.where_active(w.vector(call.getArgOperand(0)), b.getFalse());
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
