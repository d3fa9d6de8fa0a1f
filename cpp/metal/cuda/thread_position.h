// A thread's place in the grid, from the registers of the GPU.
#pragma once

#include "llvm/IR/IRBuilder.h"
#include "metal/compiler/attributes.h"

namespace metal::cuda {

// What a launch tells of its grid, by dimension.
struct GridArguments {
  llvm::Value* threads_per_grid[3] = {};
  llvm::Value* first_threadgroup[3] = {};
  llvm::Value* threads_per_threadgroup[3] = {};  // null: it is the size of the blocks
};

// Where a grid ends within a block, Metal's threadgroup is smaller than the block: its threads are
// the block's first ones, so that its SIMD-groups are warps, and the others leave at once.
class ThreadPosition {
 public:
  // Emits at the builder's position the code that all the rest needs, and leaves the builder where
  // the threads of the grid go on.
  ThreadPosition(llvm::IRBuilder<>& builder, const GridArguments& grid);

  // A component of a built-in argument, `component` < 3.
  llvm::Value* value(llvm::IRBuilder<>& builder, compiler::Builtin builtin, unsigned component);

 private:
  void find_index(llvm::IRBuilder<>& builder);
  void find_position(llvm::IRBuilder<>& builder);

  GridArguments grid_;
  llvm::Value* block_[3];       // its position
  llvm::Value* block_size_[3];  // as dispatched
  llvm::Value* size_[3];        // of the threadgroup, clipped at the edge of the grid
  llvm::Value* position_[3];    // of the thread in it
  llvm::Value* index_;          // of the thread in it
  llvm::Value* volume_;         // threads in it
};

}  // namespace metal::cuda
