// Moves the members of structs with few shuffles.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace metal::cpu {

// A gang reads and writes the `float4`s of its lanes as one vector. Every fourth element is of one
// member, and LLVM makes each vector of members, and each register that is written, for itself: it
// merges four registers in three shuffles. Here, they are made together, in rounds that halve what
// neighbours have in common: two shuffles of two registers for each of four, and three for each of
// eight.
//
// It runs after LLVM's optimisations, which know such vectors by their shuffles. Registers are read
// in the order of memory, which processors follow.
void transpose_structs(llvm::Module& module, llvm::TargetMachine& target);

}  // namespace metal::cpu
