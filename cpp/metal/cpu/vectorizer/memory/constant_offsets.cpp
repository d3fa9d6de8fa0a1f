#include "metal/cpu/vectorizer/memory/constant_offsets.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace metal::cpu {

llvm::PreservedAnalyses ConstantOffsetsPass::run(llvm::Function& body,
                                                 llvm::FunctionAnalysisManager&) {
  const llvm::DataLayout& layout = body.getParent()->getDataLayout();
  bool changed = false;
  // Visits definitions before uses, so that an offset moves through a whole chain of additions.
  for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal(&body)) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(*block)) {
      auto* outer = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction);
      if (!outer || outer->hasAllConstantIndices()) continue;
      auto* inner = llvm::dyn_cast<llvm::GetElementPtrInst>(outer->getPointerOperand());
      llvm::APInt offset(layout.getIndexTypeSizeInBits(outer->getType()), 0);
      if (!inner || !inner->accumulateConstantOffset(layout, offset)) continue;
      llvm::IRBuilder<> b(outer);
      llvm::SmallVector<llvm::Value*> indices(outer->indices());
      llvm::Value* variable =
          b.CreateGEP(outer->getSourceElementType(), inner->getPointerOperand(), indices);
      outer->replaceAllUsesWith(b.CreateGEP(b.getInt8Ty(), variable, b.getInt(offset)));
      outer->eraseFromParent();
      changed = true;
    }
  }
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace metal::cpu
