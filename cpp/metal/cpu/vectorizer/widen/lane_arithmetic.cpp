#include "metal/cpu/vectorizer/widen/lane_arithmetic.h"

#include <optional>

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "metal/compiler/internal_check.h"

namespace metal::cpu {

using llvm::Constant;
using llvm::ConstantFP;
using llvm::ConstantInt;
using llvm::Value;

Constant* fold_identity(LaneFold fold, llvm::Type* type) {
  const bool is_float = type->isFloatingPointTy();
  switch (fold) {
    case LaneFold::Sum:
      // -0 + x is x for every x.
      return is_float ? ConstantFP::getNegativeZero(type) : Constant::getNullValue(type);
    case LaneFold::Or:
    case LaneFold::Xor:
    case LaneFold::UnsignedMax:
      return Constant::getNullValue(type);
    case LaneFold::Product:
      return is_float ? ConstantFP::get(type, 1.0) : ConstantInt::get(type, 1);
    case LaneFold::And:
    case LaneFold::UnsignedMin:
      return Constant::getAllOnesValue(type);
    case LaneFold::Min:
    case LaneFold::Max:
      break;
  }
  if (is_float) return ConstantFP::getQNaN(type);  // maxnum and minnum return the other operand
  const unsigned bits = type->getIntegerBitWidth();
  return ConstantInt::get(type, fold == LaneFold::Min ? llvm::APInt::getSignedMaxValue(bits)
                                                      : llvm::APInt::getSignedMinValue(bits));
}

Value* fold_pair(llvm::IRBuilder<>& b, LaneFold fold, Value* x, Value* y) {
  const bool is_float = x->getType()->getScalarType()->isFloatingPointTy();
  switch (fold) {
    case LaneFold::Sum:
      return is_float ? b.CreateFAdd(x, y) : b.CreateAdd(x, y);
    case LaneFold::Product:
      return is_float ? b.CreateFMul(x, y) : b.CreateMul(x, y);
    case LaneFold::Min:
      return is_float ? b.CreateMinNum(x, y) : b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, y);
    case LaneFold::Max:
      return is_float ? b.CreateMaxNum(x, y) : b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x, y);
    case LaneFold::UnsignedMin:
      return b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, x, y);
    case LaneFold::UnsignedMax:
      return b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, x, y);
    case LaneFold::And:
      return b.CreateAnd(x, y);
    case LaneFold::Or:
      return b.CreateOr(x, y);
    case LaneFold::Xor:
      return b.CreateXor(x, y);
  }
  internal_error("unknown fold");
}

namespace {

// Whether the result depends on the order of operations.
bool depends_on_order(LaneFold fold, llvm::Type* type) {
  return type->isFloatingPointTy() && (fold == LaneFold::Sum || fold == LaneFold::Product);
}

// The only active lane, if masks tell. A SIMD-group often leaves its result to its first lane.
std::optional<unsigned> only_active_lane(const Widener& w) {
  const auto* mask = llvm::dyn_cast_or_null<Constant>(w.mask());
  std::optional<unsigned> only;
  for (unsigned lane = 0; mask && lane < w.width(); ++lane) {
    const auto* active = llvm::dyn_cast_or_null<ConstantInt>(mask->getAggregateElement(lane));
    if (!active || (active->isOne() && only)) return std::nullopt;
    if (active->isOne()) only = lane;
  }
  return only;
}

}  // namespace

// Combines one half with the other until one lane is left, which takes the fewest instructions.
// Sums and products of floats combine neighbours, as Apple's hardware does, to give the same bits.
Value* fold_lanes(Widener& w, LaneFold fold, Value* vector) {
  llvm::IRBuilder<>& b = w.builder();
  llvm::Type* type = vector->getType()->getScalarType();
  if (const auto lane = only_active_lane(w)) return b.CreateExtractElement(vector, *lane);
  Value* rest = w.where_active(vector, fold_identity(fold, type));
  for (unsigned half = w.width() / 2; half >= 1; half /= 2) {
    const bool neighbours = depends_on_order(fold, type);
    const auto part = [&](unsigned which) {
      return b.CreateShuffleVector(rest, neighbours
                                             ? llvm::createStrideMask(which, 2, half)
                                             : llvm::createSequentialMask(which * half, half, 0));
    };
    rest = fold_pair(b, fold, part(0), part(1));
  }
  return b.CreateExtractElement(rest, uint64_t{0});
}

// Combines lanes at distances of 1, 2, 4, ...
Value* scan_lanes(Widener& w, LaneFold fold, Value* vector, bool inclusive) {
  llvm::IRBuilder<>& b = w.builder();
  llvm::Type* type = vector->getType()->getScalarType();
  Constant* nothing =
      fold == LaneFold::Sum ? Constant::getNullValue(type) : fold_identity(fold, type);
  // For lanes of floats above zeros, LLVM uses an expansion (vexpandps), which takes three times as
  // long as the permutation for lanes above others. Other processors move zeros in faster.
  const bool expands = type->isFloatingPointTy() &&
                       w.costs().isLegalMaskedExpandLoad(vector->getType(), llvm::Align(4));
  Constant* below = expands ? fold_identity(fold, type) : nothing;
  Constant* lowest = llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(w.width()), below);
  auto moved_up = [&](Value* lanes, unsigned by) {
    llvm::SmallVector<int> from(w.width());
    for (unsigned i = 0; i < w.width(); ++i)
      from[i] = static_cast<int>(i < by ? w.width() + i : i - by);
    return b.CreateShuffleVector(lanes, lowest, from);
  };
  Value* total = w.where_active(vector, nothing);
  for (unsigned step = 1; step < w.width(); step *= 2)
    total = fold_pair(b, fold, moved_up(total, step), total);
  if (inclusive) return total;
  Value* before = moved_up(total, 1);
  // Nothing before the first lane adds up to 0, not to -0.
  return below == nothing ? before
                          : b.CreateFAdd(before, Constant::getNullValue(before->getType()));
}

}  // namespace metal::cpu
