// Gives masks the form with which processors without mask registers compute.
#pragma once

namespace llvm {
class Module;
}

namespace metal::cpu {

// A vector of bits becomes a vector of 32-bit integers, all ones or all zeros, wherever bits are
// combined, kept over an iteration or carried to another block: comparisons make such integers and
// selections take them, while code for single bits would pack and unpack them every time. The last
// step before code is generated: LLVM's own simplifications prefer bits.
void legalize_masks(llvm::Module& module);

}  // namespace metal::cpu
