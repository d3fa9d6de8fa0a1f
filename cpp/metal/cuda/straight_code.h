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

// The code of a thread. Threads from a limit on may return after the first block:
// `if (i >= n) return;`.
struct StraightCode {
  llvm::SmallVector<Step, 2> steps;
  llvm::Value* limit = nullptr;
  bool is_signed = false;
};

std::optional<StraightCode> find_straight_code(const llvm::Function& kernel);

// Whether it is a component of the thread's position in the grid.
bool is_position(const llvm::Value* value, unsigned component);

}  // namespace metal::cuda
