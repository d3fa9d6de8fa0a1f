// Gives every lane of a gang its own copy of a thread's variables in memory.
#pragma once

namespace llvm {
class Argument;
class Function;
}  // namespace llvm

namespace metal::cpu {

// A variable whose accesses all have one size becomes an array in which the lanes' copies of one
// element are neighbours, so that lanes that use the same index touch consecutive memory. Copies of
// other variables follow each other as a whole. `lane` is the argument that holds the lane's
// number.
void layout_private_memory(llvm::Function& body, llvm::Argument& lane, unsigned width);

}  // namespace metal::cpu
