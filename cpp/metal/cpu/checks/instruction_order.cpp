#include "metal/cpu/checks/instruction_order.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"
#include "metal/compiler/checked_cast.h"

namespace metal::cpu {

InstructionOrder::InstructionOrder(llvm::Function& kernel) {
  for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&kernel)) {
    for (llvm::Instruction& instruction : *block) instructions_.emplace_back(&instruction);
  }
}

std::vector<llvm::Instruction*> InstructionOrder::left() const {
  std::vector<llvm::Instruction*> left;
  for (const llvm::WeakVH& handle : instructions_) {
    if (handle) left.push_back(checked_cast<llvm::Instruction>(static_cast<llvm::Value*>(handle)));
  }
  return left;
}

}  // namespace metal::cpu
