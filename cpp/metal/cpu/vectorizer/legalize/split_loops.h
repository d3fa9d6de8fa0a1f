// Splits loops that keep more vectors from one iteration to the next than there are registers.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace metal::cpu {

// A loop over one block, such as that of a tile of a matrix product, becomes loops that follow each
// other: each does the same for a part of the lanes, whose sums then stay in registers.
//
// That is the same, as lanes do not look at each other in such a loop: a part of a vector is
// computed from the same part of other vectors and from scalars, which every loop computes anew.
// Nothing in it writes memory or has other effects, so that each loop reads what the first has
// read, and ends after as many iterations.
void split_loops(llvm::Module& module, llvm::TargetMachine& target);

}  // namespace metal::cpu
