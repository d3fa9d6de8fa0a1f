#include "metal/cpu/vectorizer/legalize/reciprocal_roots.h"

#include <numeric>

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Target/TargetMachine.h"
#include "metal/compiler/checked_cast.h"

namespace metal::cpu {
namespace {

using llvm::Value;

bool has_estimate(const llvm::TargetMachine& target) {
  const llvm::StringRef features = target.getTargetFeatureString();
  return features.contains("+avx512f") && features.contains("+avx512vl");
}

// The number under a root that divides, or null.
Value* divided_by_root_of(const llvm::Instruction& instruction) {
  Value* number = nullptr;
  const bool matches =
      instruction.getOpcode() == llvm::Instruction::FDiv &&
      instruction.getType()->getScalarType()->isFloatTy() && instruction.hasAllowReciprocal() &&
      match(instruction.getOperand(1), llvm::PatternMatch::m_Intrinsic<llvm::Intrinsic::sqrt>(
                                           llvm::PatternMatch::m_Value(number)));
  return matches ? number : nullptr;
}

unsigned lanes_of(const llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector ? vector->getNumElements() : 1;
}

class RootExpansion {
 public:
  explicit RootExpansion(llvm::Instruction& division) : b_(&division) {}

  // With y the estimate and r = (1 - x y y) / 2, the root is y + y r. At zero and infinity, the
  // estimate is the result, and r is no number.
  Value* reciprocal_root(Value* x) {
    llvm::Type* type = x->getType();
    Value* half = llvm::ConstantFP::get(type, 0.5);
    Value* y = estimate(x);
    Value* negated = b_.CreateFNeg(b_.CreateFMul(x, y));
    Value* r = fma(negated, b_.CreateFMul(y, half), half);
    Value* root = fma(y, r, y);
    return b_.CreateSelect(b_.CreateFCmpORD(r, r), root, y);
  }

  llvm::IRBuilder<>& builder() { return b_; }

 private:
  Value* fma(Value* a, Value* b, Value* c) {
    return b_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
  }

  Value* estimate(Value* x) {
    const unsigned lanes = lanes_of(x->getType());
    if (!x->getType()->isVectorTy()) {
      Value* four = b_.CreateInsertElement(
          llvm::PoisonValue::get(llvm::FixedVectorType::get(x->getType(), 4)), x, uint64_t{0});
      return b_.CreateExtractElement(estimate_of_register(four), uint64_t{0});
    }
    const unsigned width = lanes > 8 ? 16 : lanes > 4 ? 8 : 4;
    llvm::SmallVector<Value*> parts;
    for (unsigned first = 0; first < lanes; first += width)
      parts.push_back(estimate_of_register(lanes_from(x, first, width)));
    Value* all = llvm::concatenateVectors(b_, parts);
    return lanes_of(all->getType()) == lanes ? all : lanes_from(all, 0, lanes);
  }

  // Lanes that are not there are poison.
  Value* lanes_from(Value* vector, unsigned first, unsigned count) {
    const unsigned there = lanes_of(vector->getType());
    if (first == 0 && count == there) return vector;
    llvm::SmallVector<int> lanes(count);
    std::iota(lanes.begin(), lanes.end(), static_cast<int>(first));
    for (int& lane : lanes) {
      if (lane >= static_cast<int>(there)) lane = llvm::PoisonMaskElem;
    }
    return b_.CreateShuffleVector(vector, lanes);
  }

  Value* estimate_of_register(Value* x) {
    const unsigned lanes = lanes_of(x->getType());
    const llvm::Intrinsic::ID id = lanes == 16  ? llvm::Intrinsic::x86_avx512_rsqrt14_ps_512
                                   : lanes == 8 ? llvm::Intrinsic::x86_avx512_rsqrt14_ps_256
                                                : llvm::Intrinsic::x86_avx512_rsqrt14_ps_128;
    llvm::Constant* all = llvm::Constant::getAllOnesValue(b_.getIntNTy(lanes == 16 ? 16 : 8));
    return b_.CreateIntrinsic(id, {}, {x, llvm::PoisonValue::get(x->getType()), all});
  }

  llvm::IRBuilder<> b_;
};

void expand(llvm::Instruction& division, Value* number) {
  auto* root = checked_cast<llvm::Instruction>(division.getOperand(1));
  RootExpansion expansion(division);
  Value* result = expansion.reciprocal_root(number);
  Value* numerator = division.getOperand(0);
  if (!match(numerator, llvm::PatternMatch::m_FPOne()))
    result = expansion.builder().CreateFMul(numerator, result);
  result->takeName(&division);
  division.replaceAllUsesWith(result);
  division.eraseFromParent();
  if (root->use_empty()) root->eraseFromParent();
}

}  // namespace

void expand_reciprocal_roots(llvm::Module& module, const llvm::TargetMachine& target) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      Value* number = divided_by_root_of(instruction);
      if (!number) continue;
      if (has_estimate(target)) {
        expand(instruction, number);
      } else if (!instruction.hasApproxFunc()) {
        instruction.setHasAllowReciprocal(false);
      }
    }
  }
}

}  // namespace metal::cpu
