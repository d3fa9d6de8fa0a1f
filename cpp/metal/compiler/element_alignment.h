// Accesses to vectors at any address.
#pragma once

namespace llvm {
class Module;
}  // namespace llvm

namespace metal::compiler {

// Apple's GPUs read vectors at any address that is aligned to their elements, while NVIDIA's and
// some instructions of CPUs fault. So this lowers the alignment of accesses to that of an element.
// The optimiser raises it where it can prove more, and the back end chooses other instructions.
void assume_element_alignment(llvm::Module& module);

}  // namespace metal::compiler
