// Makes code that runs several gangs of a threadgroup at once, so that they share what they read.
// Gangs that read neighbouring columns (columns.h) share the rows in which these are.
#pragma once

#include "llvm/IR/PassManager.h"
#include "metal/cpu/variant.h"

namespace llvm {
class TargetTransformInfo;
}  // namespace llvm

namespace metal::cpu {

// Unrolls the loop over the gangs of a threadgroup and jams the copies of the code of a gang: where
// all gangs take one path, each instruction is followed by its copies for the other gangs, and what
// does not depend on the gang is computed once. Where gangs may take different paths, one gang runs
// after the other. So the result is one of the orders in which gangs may run between barriers, and
// a barrier in it is one for all its gangs.
//
// As many gangs are jammed as there are registers for what loops keep for their next iteration.
// Returns their number. It is 1 if the code stays as it is, because gangs would share little.
// Otherwise the argument `index` becomes the number of the set of gangs, and x and y are not used.
uint32_t jam_gangs(llvm::Function& wide, const Variant& variant,
                   llvm::FunctionAnalysisManager& analyses, const llvm::TargetTransformInfo& costs);

}  // namespace metal::cpu
