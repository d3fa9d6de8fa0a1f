#include "metal/cpu/vectorizer/legalize/merge_shuffles.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"

namespace metal::cpu {
namespace {

using llvm::ShuffleVectorInst;
using llvm::Value;

// The vector whose elements the shuffle moves, if it is only one; otherwise null.
Value* only_source(const ShuffleVectorInst& shuffle) {
  return llvm::isa<llvm::PoisonValue>(shuffle.getOperand(1)) ? shuffle.getOperand(0) : nullptr;
}

int lanes_of(const Value& vector) {
  return static_cast<int>(checked_cast<llvm::FixedVectorType>(vector.getType())->getNumElements());
}

// Where the elements of `outer` come from in the source of `inner`.
llvm::SmallVector<int> merged_mask(const ShuffleVectorInst& outer, const ShuffleVectorInst& inner) {
  const int there = lanes_of(*inner.getOperand(0));
  llvm::SmallVector<int> mask;
  for (const int lane : outer.getShuffleMask()) {
    const int from = lane >= 0 && lane < lanes_of(inner) ? inner.getMaskValue(lane) : -1;
    mask.push_back(from >= 0 && from < there ? from : llvm::PoisonMaskElem);
  }
  return mask;
}

// The shuffle that `outer` is of, if both can be one.
ShuffleVectorInst* inner_of(const ShuffleVectorInst& outer) {
  auto* inner = llvm::dyn_cast_or_null<ShuffleVectorInst>(only_source(outer));
  const Value* source = inner ? only_source(*inner) : nullptr;
  return source && llvm::isa<llvm::FixedVectorType>(source->getType()) ? inner : nullptr;
}

void merge(ShuffleVectorInst* outer) {
  if (!llvm::is_contained(outer->getShuffleMask(), llvm::PoisonMaskElem)) return;
  while (const ShuffleVectorInst* inner = inner_of(*outer)) {
    Value* source = inner->getOperand(0);
    auto* merged = new ShuffleVectorInst(source, llvm::PoisonValue::get(source->getType()),
                                         merged_mask(*outer, *inner), "", outer);
    merged->takeName(outer);
    outer->replaceAllUsesWith(merged);
    outer->eraseFromParent();
    outer = merged;
  }
}

}  // namespace

void merge_shuffles(llvm::Module& module) {
  for (llvm::Function& function : module) {
    llvm::SmallVector<ShuffleVectorInst*> shuffles;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (auto* shuffle = llvm::dyn_cast<ShuffleVectorInst>(&instruction))
        shuffles.push_back(shuffle);
    }
    for (ShuffleVectorInst* shuffle : shuffles) merge(shuffle);
  }
}

}  // namespace metal::cpu
