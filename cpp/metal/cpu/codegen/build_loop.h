// Builds counted loops in IR.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace metal::cpu {

// Builds for (i = start; i < end; i += step) inside(i) at the builder's position and leaves the
// builder after the loop. `end` - `start` must be a multiple of `step`.
template <typename Inside>
void build_loop(llvm::IRBuilder<>& builder, llvm::Value* start, llvm::Value* end, uint32_t step,
                const char* name, Inside inside) {
  llvm::LLVMContext& context = builder.getContext();
  llvm::BasicBlock* before = builder.GetInsertBlock();
  llvm::Function* function = before->getParent();
  auto* header = llvm::BasicBlock::Create(context, llvm::Twine(name) + ".loop", function);
  auto* after = llvm::BasicBlock::Create(context, llvm::Twine(name) + ".done", function);
  builder.CreateCondBr(builder.CreateICmpUGE(start, end), after, header);
  builder.SetInsertPoint(header);
  llvm::PHINode* i = builder.CreatePHI(builder.getInt32Ty(), 2, name);
  i->addIncoming(start, before);
  inside(i);
  llvm::Value* next = builder.CreateNUWAdd(i, builder.getInt32(step));
  i->addIncoming(next, builder.GetInsertBlock());
  builder.CreateCondBr(builder.CreateICmpULT(next, end), header, after);
  builder.SetInsertPoint(after);
}

}  // namespace metal::cpu
