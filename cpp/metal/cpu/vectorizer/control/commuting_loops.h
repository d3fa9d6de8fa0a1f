// Finds loops whose iterations commute.
#pragma once

#include <vector>

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/PassManager.h"

namespace metal::cpu {

// A loop whose only effects are operations in threadgroup memory that commute, such as the atomic
// additions of a histogram, and which reads nothing that the kernel writes. Nothing in it is used
// outside. So the iterations of different threads may run in any order; those of one thread may, if
// all operations are of one kind.
//
// All threads of the threadgroup reach the end of `before`, and go on at `after`. Those for which
// the guard is `enters_if` run the loop in between.
struct CommutingLoop {
  llvm::Loop* loop;
  llvm::BasicBlock *before, *after;
  llvm::Value* guard = nullptr;  // null: all threads run the loop
  bool enters_if = true;
};

// `without`: headers of loops that are left out.
std::vector<CommutingLoop> find_commuting_loops(
    llvm::Function& body, llvm::FunctionAnalysisManager& analyses,
    const llvm::SmallPtrSetImpl<llvm::BasicBlock*>& without);

// The order in which the iterations of all threads read memory piece by piece.
enum class IterationOrder {
  AsWritten,   // each gang its iterations, or not known
  GangByGang,  // an iteration of all gangs, then the next one: neighbours read neighbouring
               // elements
  LaneByLane   // each lane's iterations as one row: iterations read neighbouring elements
};

// `width`: of a gang.
IterationOrder best_order(const CommutingLoop& commuting, llvm::ScalarEvolution& evolution,
                          unsigned width);

}  // namespace metal::cpu
