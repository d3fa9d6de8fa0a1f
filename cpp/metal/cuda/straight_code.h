// Finds kernels in which all threads run the same blocks one after the other, but for branches that
// lead back to them.
#pragma once

#include <optional>

#include "llvm/ADT/SmallVector.h"

namespace llvm {
class BasicBlock;
class Function;
class Value;
}  // namespace llvm

namespace metal::cuda {

// A block that all threads run, and the branches behind it: blocks without loops, which lead to the
// next such block.
struct Step {
  const llvm::BasicBlock* block;
  llvm::SmallVector<const llvm::BasicBlock*, 4> branches{};  // each after those that lead to it
};

// What a thread needs to go on after a step, or else it returns: `if (i >= n) return;`.
struct Limits {
  struct Limit {
    llvm::Value* end;  // the position in x is less
    bool is_signed;
  };
  struct Condition {
    llvm::Value* value;
    bool wanted;
  };
  llvm::SmallVector<Limit, 1> limits{};
  llvm::SmallVector<Condition, 1> conditions{};
};

// The code of a thread. The first steps may have limits.
struct StraightCode {
  llvm::SmallVector<Step, 2> steps;
  llvm::SmallVector<Limits, 1> limits;
};

std::optional<StraightCode> find_straight_code(const llvm::Function& kernel);

// Whether it is a component of the thread's position in the grid.
bool is_position(const llvm::Value* value, unsigned component);

}  // namespace metal::cuda
