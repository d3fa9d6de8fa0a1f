#include "metal/cpu/vectorizer/legalize/compare_halves.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace metal::cpu {
namespace {

bool depends_on_order(const llvm::FCmpInst& compare) {
  return compare.getPredicate() != compare.getSwappedPredicate();
}

// Whether all that uses the comparison chooses between the numbers that are compared.
bool is_minimum_or_maximum(const llvm::FCmpInst& compare) {
  const llvm::Value *a = compare.getOperand(0), *b = compare.getOperand(1);
  return llvm::all_of(compare.users(), [&](const llvm::User* user) {
    const auto* select = llvm::dyn_cast<llvm::SelectInst>(user);
    if (!select || select->getCondition() != &compare) return false;
    const llvm::Value *x = select->getTrueValue(), *y = select->getFalseValue();
    return (x == a && y == b) || (x == b && y == a);
  });
}

void compare_as_floats(llvm::FCmpInst& compare) {
  llvm::IRBuilder<> b(&compare);
  llvm::Type* wide = compare.getOperand(0)->getType()->getWithNewType(b.getFloatTy());
  compare.setOperand(0, b.CreateFPExt(compare.getOperand(0), wide));
  compare.setOperand(1, b.CreateFPExt(compare.getOperand(1), wide));
}

}  // namespace

void compare_halves_as_floats(llvm::Module& module, const llvm::TargetMachine& target) {
  if (!target.getTargetFeatureString().contains("+avx512fp16")) return;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* compare = llvm::dyn_cast<llvm::FCmpInst>(&instruction);
      if (compare && compare->getOperand(0)->getType()->getScalarType()->isHalfTy() &&
          depends_on_order(*compare) && !is_minimum_or_maximum(*compare))
        compare_as_floats(*compare);
    }
  }
}

}  // namespace metal::cpu
