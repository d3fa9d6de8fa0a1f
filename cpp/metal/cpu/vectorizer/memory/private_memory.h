// Gives every lane of a gang its own copy of a thread's variables in memory, where they differ.
#pragma once

namespace llvm {
class Argument;
class Function;
}  // namespace llvm

namespace metal::cpu {

struct BodyShapes;

// A variable that is the same in all lanes (uniform_variables.h) keeps one copy for the gang.
// Another variable whose accesses all have one size becomes an array in which the lanes' copies of
// an element are neighbours, so that lanes with the same index access contiguous memory. The copies
// of other variables follow each other. `lane` is the argument with the lane's number.
void layout_private_memory(llvm::Function& body, llvm::Argument& lane, const BodyShapes& shapes);

}  // namespace metal::cpu
