// Finds a thread's variables in memory that hold the same in all lanes of a gang.
#pragma once

#include <vector>

#include "llvm/IR/Instructions.h"

namespace llvm {
class PostDominatorTree;
}  // namespace llvm

namespace metal::cpu {

class ShapeAnalysis;

// A thread's variable in memory, and the loads from it and stores to it.
struct PrivateVariable {
  llvm::AllocaInst* memory;
  std::vector<llvm::Instruction*> accesses;
};

// Whether one copy of the variable does for the gang, as for a table that every thread fills with
// the same numbers: all lanes that will still access it run each store together, with one address
// and one value. Lanes may read different elements. `shapes` takes values that lanes read from one
// place in a variable for uniform, so the answer holds if it is given for all variables that do not
// get a copy for each lane.
bool is_same_in_all_lanes(const PrivateVariable& variable, const ShapeAnalysis& shapes,
                          const llvm::PostDominatorTree& post_dominators);

}  // namespace metal::cpu
