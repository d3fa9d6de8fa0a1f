// Finds out whether a thread of a kernel may run for long.
#pragma once

namespace llvm {
class Module;
}

namespace metal::cpu {

// Whether a thread may come to an instruction twice: by a loop, by recursion, or by a call of an
// unknown function.
bool may_repeat(const llvm::Module& kernel);

}  // namespace metal::cpu
