// Splits the code of gangs at barriers, so that they can wait for each other without stacks of
// their own.
#pragma once

#include "metal/cpu/variant.h"

namespace llvm {
class Function;
class Instruction;
}  // namespace llvm

namespace metal::cpu {

class Optimizer;

// Whether gangs wait for each other at the instruction.
bool is_barrier(const llvm::Instruction& instruction);

// Makes an entry point that runs all gangs of a threadgroup in phases: each gang runs from one
// barrier to the next. `wide` becomes a coroutine. It keeps values that are live across a barrier
// in a frame for each gang.
llvm::Function* make_phases_entry(llvm::Function& wide, const Variant& variant,
                                  Optimizer& optimizer);

}  // namespace metal::cpu
