// Finds out whether a thread of a kernel may run for long.
#pragma once

namespace llvm {
class Module;
}

namespace metal::cpu {

// Whether a thread may run an instruction more than once: in a loop, by recursion, or in a call of
// an unknown function.
bool may_repeat(const llvm::Module& kernel);

}  // namespace metal::cpu
