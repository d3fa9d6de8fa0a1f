// Takes the members of structs apart with few shuffles.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace metal::cpu {

// A gang reads the `float4`s of its lanes as one vector, and takes every fourth element for each
// member. LLVM makes each member for itself: it merges four registers in three shuffles. Here, the
// members are made together, in rounds that halve what neighbours have in common: two shuffles of
// two registers for each of four members, and three for each of eight.
//
// It runs after LLVM's optimisations, which know such vectors by their shuffles, and reads
// registers in the order of memory, which processors follow.
void deinterleave(llvm::Module& module, llvm::TargetMachine& target);

}  // namespace metal::cpu
