// Splits operations on vectors that are longer than a register.
#pragma once

namespace llvm {
class BasicBlock;
}

namespace metal::cpu {

// LLVM would split them as well, but later: it keeps the parts of an operation together. What is
// split here can be ordered, so that the first parts of many operations come before the second
// ones. Only operations that work element by element are split, and reads of memory for them.
// What else uses a result gets the parts as one vector.
void split_operations(llvm::BasicBlock& block, unsigned register_bits);

}  // namespace metal::cpu
