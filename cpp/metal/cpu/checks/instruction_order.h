// The instructions that a kernel has before checks add theirs.
#pragma once

#include <vector>

#include "llvm/IR/ValueHandle.h"

namespace llvm {
class Function;
class Instruction;
}  // namespace llvm

namespace metal::cpu {

class InstructionOrder {
 public:
  explicit InstructionOrder(llvm::Function& kernel);

  // In an order in which operands come first, but for those of loops. Other checks have removed
  // their marks since.
  std::vector<llvm::Instruction*> left() const;

 private:
  std::vector<llvm::WeakVH> instructions_;
};

}  // namespace metal::cpu
