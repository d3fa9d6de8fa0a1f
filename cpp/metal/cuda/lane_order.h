// Which thread of a SIMD-group each lane of a warp runs.
//
// Metal's threads and NVIDIA's lanes hold other elements of a matrix. In kernels that multiply
// matrices, a lane therefore runs the thread that holds the lane's own elements, so that NVIDIA's
// instructions for matrices find their operands in place. In other kernels lane n runs thread n.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace metal::cuda {

// Element (row, column) of an 8x8 matrix is element column % 2 of one thread and one lane. If the
// bits of row and column are r2 r1 r0 and c2 c1 c0, that thread's number has the bits
// r2 c2 r1 r0 c1, and that lane's number has the bits r2 r1 r0 c2 c1 (PTX ISA, the fragments of
// mma.m16n8k8).
class LaneOrder {
 public:
  // The order for a kernel in kernel form.
  static LaneOrder choose(const llvm::Module& module);
  // Keeps the order in the kernel that is launched, and finds it there.
  void set(llvm::Function& entry) const;
  static LaneOrder get(const llvm::Module& module);

  bool is_for_matrices() const { return for_matrices_; }

  // Numbers of lanes and threads, each less than 32.
  llvm::Value* lane_of(llvm::IRBuilder<>& b, llvm::Value* thread) const;
  llvm::Value* thread_of(llvm::IRBuilder<>& b, llvm::Value* lane) const;
  // The number of the thread that a lane runs.
  llvm::Value* thread(llvm::IRBuilder<>& b) const;
  // A mask with a bit for each thread, from one with a bit for each lane.
  llvm::Value* threads_of(llvm::IRBuilder<>& b, llvm::Value* lanes) const;

 private:
  explicit LaneOrder(bool for_matrices) : for_matrices_(for_matrices) {}

  bool for_matrices_;
};

}  // namespace metal::cuda
