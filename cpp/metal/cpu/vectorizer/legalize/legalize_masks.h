// Gives masks the form that processors without mask registers use.
#pragma once

namespace llvm {
class Module;
}

namespace metal::cpu {

// Turns vectors of bits into vectors of 32-bit integers, all ones or all zeros, where bits are
// combined, kept for the next iteration or used in another block. Comparisons produce such integers
// and selects use them; single bits would be packed and unpacked each time. It runs late, as LLVM's
// own simplifications prefer bits.
void legalize_masks(llvm::Module& module);

}  // namespace metal::cpu
