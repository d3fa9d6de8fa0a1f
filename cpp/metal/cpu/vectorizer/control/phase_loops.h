// Runs the gangs of a threadgroup in loops, from one barrier to the next.
#pragma once

#include "metal/cpu/variant.h"

namespace llvm {
class Function;
}  // namespace llvm

namespace metal::cpu {

// Turns the code of one gang into that of a threadgroup, if all gangs take the same paths from
// barrier to barrier: each phase becomes the body of a loop over the gangs, and the branches
// between phases stay outside these loops. What is the same for all gangs is computed outside them,
// too, and what differs and is needed in a later phase is stored in a frame for each gang. Loops
// over gangs that have copies of a loop (see loops_of_gangs.h) are marked to be unrolled. False if
// gangs may take different paths to a barrier; the code is then still that of one gang.
//
// Afterwards, of the arguments only the threadgroup is used.
bool make_phase_loops(llvm::Function& wide, const Variant& variant);

}  // namespace metal::cpu
