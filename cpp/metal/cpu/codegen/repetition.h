// Finds out what a thread of a kernel may do, and what it may do repeatedly.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

namespace llvm {
class Instruction;
class Module;
}  // namespace llvm

namespace metal::cpu {

// Whether a thread may run an instruction more than once: in a loop, by recursion, or in a call of
// an unknown function.
bool may_repeat(const llvm::Module& kernel);

// Whether the test holds for an instruction of a function.
bool any_instruction(const llvm::Module& kernel,
                     llvm::function_ref<bool(const llvm::Instruction&)> test);
bool reads_threadgroup_memory(const llvm::Instruction& instruction);
// Whether a thread may do so more than once.
bool rereads_threadgroup_memory(const llvm::Module& kernel);
// Whether threads wait at more barriers than one exchange of values takes, as in a tree of sums
// whose steps are written one after the other.
bool waits_often(const llvm::Module& kernel);
bool has_atomics(const llvm::Module& kernel);

}  // namespace metal::cpu
