// Computes a thread's position in the grid from the registers of the GPU.
#pragma once

#include "llvm/IR/IRBuilder.h"
#include "metal/compiler/attributes.h"
#include "metal/cuda/lane_order.h"

namespace metal::cuda {

// The arguments that describe the grid, by dimension.
struct GridArguments {
  llvm::Value* threads_per_grid[3] = {};
  llvm::Value* first_threadgroup[3] = {};
  llvm::Value* threads_per_threadgroup[3] = {};  // null: the size of the blocks
};

// The registers that hold a thread's position in its block, the block's position, and its size.
llvm::Value* read_thread(llvm::IRBuilder<>& b, unsigned dimension);
llvm::Value* read_block(llvm::IRBuilder<>& b, unsigned dimension);
llvm::Value* read_block_size(llvm::IRBuilder<>& b, unsigned dimension);

// At the edge of a grid, Metal's threadgroup is smaller than the block. Its threads are then the
// first ones of the block, so that its SIMD-groups are warps. The other threads return at once.
class ThreadPosition {
 public:
  // Emits the common code at the builder's position, and leaves the builder where only threads of
  // the grid continue.
  ThreadPosition(llvm::IRBuilder<>& builder, const GridArguments& grid, LaneOrder order);

  // A component of a built-in argument. `component` is less than 3.
  llvm::Value* value(llvm::IRBuilder<>& builder, compiler::Builtin builtin, unsigned component);

 private:
  void find_index(llvm::IRBuilder<>& builder);
  void find_position(llvm::IRBuilder<>& builder);

  GridArguments grid_;
  LaneOrder order_;
  llvm::Value* block_[3];       // its position in the grid
  llvm::Value* block_size_[3];  // as dispatched
  llvm::Value* size_[3];        // of the threadgroup, clipped at the edge of the grid
  llvm::Value* position_[3];    // of the thread in the threadgroup
  llvm::Value* index_;          // of the thread in the threadgroup
  llvm::Value* volume_;         // threads in it
};

}  // namespace metal::cuda
