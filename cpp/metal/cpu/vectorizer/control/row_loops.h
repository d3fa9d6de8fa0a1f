// Finds loops over a row of each lane whose iterations may run in any order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "llvm/ADT/SmallVector.h"

namespace llvm {
class Instruction;
class Loop;
class PHINode;
class ScalarEvolution;
}  // namespace llvm

namespace metal::cpu {

class ShapeAnalysis;

// A value that grows by the same number in every iteration.
struct RowIndex {
  llvm::PHINode* phi;
  int64_t step;  // in bytes, for an address
  // Whether neither the numbers of the iterations nor the values wrap around. Of ragged rows, the
  // second is true if the numbers are not negative in 32 bits.
  bool is_nuw, is_nsw;
};

// What combines values of all iterations, in any order.
struct RowFold {
  llvm::PHINode* phi = nullptr;
  llvm::Instruction* update = nullptr;
  std::string operation;       // that combines lanes: see widen_lane_operations.cpp
  bool is_idempotent = false;  // each lane may start with the same value
};

// A loop of one block, and what it carries from one iteration to the next.
struct RowLoop {
  llvm::SmallVector<RowIndex, 1> indices;
  llvm::SmallVector<RowFold, 1> folds;
  bool is_ragged = false;  // rows differ in length
  // Of rows that are worth sharing. Ragged rows have as many in the mean.
  uint64_t least_iterations = 0;
};

// Nothing if iterations depend on each other in another way, or if the loop does not store to rows
// of the lanes and does not reduce them.
std::optional<RowLoop> find_row_loop(const llvm::Loop& loop, const ShapeAnalysis& shapes,
                                     llvm::ScalarEvolution& evolution);

}  // namespace metal::cpu
