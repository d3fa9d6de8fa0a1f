// Merges shuffles of shuffles, of which LLVM 19 loses elements.
#pragma once

namespace llvm {
class Module;
}

namespace metal::cpu {

// If a vector gets longer in two steps and not all of its elements are used, LLVM's code generator
// may take all of them for undefined. So one shuffle makes such vectors at once. It runs last, as
// LLVM's simplifications find out which elements are used.
void merge_shuffles(llvm::Module& module);

}  // namespace metal::cpu
