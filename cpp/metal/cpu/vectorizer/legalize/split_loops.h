// Splits loops whose vectors need more registers than there are.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace metal::cpu {

// A loop of one block, such as that of a tile of a matrix product, becomes several loops, one after
// the other. Each does the work of some of the lanes, so its sums fit into registers, and so do the
// pieces of rows that these lanes read.
//
// This is correct because the lanes do not use each other's values in such a loop: each loop
// computes its part of a vector from the same part of other vectors, and from scalars and the
// pieces of rows, which it computes anew. The original loop writes no memory and has no other
// effects, so each loop reads the same memory and runs for the same number of iterations. It may
// make prefetches, of which each loop makes some.
void split_loops(llvm::Module& module, llvm::TargetMachine& target);

}  // namespace metal::cpu
