// What can make a thread of a kernel run for long.
#pragma once

namespace llvm {
class Module;
}

namespace metal::cpu {

// Whether a thread may come to an instruction twice: by a loop, recursion, or a call of who knows
// what.
bool may_repeat(const llvm::Module& kernel);

}  // namespace metal::cpu
