// Makes code that runs several gangs of a threadgroup at once, so that they share what they read.
// Gangs that read neighbouring columns (columns.h) share the rows in which these are. Gangs that
// read beside each other read on in memory.
#pragma once

#include "llvm/IR/PassManager.h"
#include "metal/cpu/variant.h"

namespace llvm {
class TargetTransformInfo;
}  // namespace llvm

namespace metal::cpu {

class Optimizer;

// Unrolls the loop over the gangs of a threadgroup and jams the copies of the code of a gang: where
// all gangs take one path, each instruction is followed by its copies for the other gangs, and what
// does not depend on the gang is computed once. Where gangs may take different paths, one gang runs
// after the other. So the result is one of the orders in which gangs may run between barriers, and
// a barrier in it is one for all its gangs.
//
// As many gangs are jammed as there are registers for what loops keep for their next iteration.
// Returns their number. It is 1 if the code stays as it is, because gangs would gain little.
// Otherwise the argument `index` becomes the number of the set of gangs, and x and y are not used.
uint32_t jam_gangs(llvm::Function& wide, const Variant& variant,
                   llvm::FunctionAnalysisManager& analyses, const llvm::TargetTransformInfo& costs);

// Code for SIMD-groups beside each other in a row, whose arguments are those of the first one. It
// returns nothing, or, if it may bail out, whether it has not.
struct JammedGangs {
  llvm::Function* code = nullptr;  // null if gangs would share little
  uint32_t gangs = 1;
};

// The same for SIMD-groups that do not wait for each other, which may run in any order. Often each
// works on a row, and all read the same vector. Where a guard at the start sends a gang to the end
// of the kernel, all gangs must pass it, or the set bails out.
// Their number divides Variant::gangs_at_once.
JammedGangs clone_jamming_gangs(llvm::Function& wide, const Variant& variant, Optimizer& optimizer,
                                const llvm::TargetTransformInfo& costs);

// The same for gangs of independent threads, in a loop over rows of memory that each gang reads a
// piece of: together they read a longer piece, before the next row. Their number is a power of two.
JammedGangs clone_jamming_row(llvm::Function& wide, const Variant& variant, Optimizer& optimizer,
                              const llvm::TargetTransformInfo& costs);

}  // namespace metal::cpu
