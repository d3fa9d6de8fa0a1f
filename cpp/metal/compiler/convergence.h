// Which blocks of a kernel threads run in convergence.
#pragma once

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/UniformityAnalysis.h"

namespace metal::compiler {

// A block is convergent if all threads among which values count as uniform, those of a SIMD-group
// or of a threadgroup, come to it if they are still alive, and equally often. Threads diverge at a
// branch on something that differs between them, until its paths meet again. Paths that lead out of
// the kernel without a `waiting` block need not be waited for.
class Convergence {
 public:
  using IsWaiting = llvm::function_ref<bool(const llvm::BasicBlock&)>;

  Convergence(llvm::Function& function, llvm::UniformityInfo& uniformity, IsWaiting is_waiting);

  bool is_convergent(const llvm::BasicBlock& block) const { return !divergent_[number(block)]; }
  // Whether no waiting block comes later.
  bool is_leaving(const llvm::BasicBlock& block) const { return leaving_[number(block)]; }

 private:
  unsigned number(const llvm::BasicBlock& block) const { return numbers_.lookup(&block); }
  void number_blocks(llvm::Function& function);
  // Marks a block and all from which it can be reached.
  void mark_before(unsigned end, llvm::BitVector& marked) const;
  void find_leaving(IsWaiting is_waiting);
  void find_ends();
  void find_post_dominators();
  void diverge_at(unsigned block);

  std::vector<llvm::BasicBlock*> blocks_;  // in post-order
  llvm::DenseMap<const llvm::BasicBlock*, unsigned> numbers_;
  llvm::BitVector leaving_;                           // paths out of the kernel
  std::vector<llvm::SmallVector<unsigned, 2>> next_;  // other successors
  llvm::BitVector ends_;                              // where paths end that do not leave
  std::vector<llvm::BitVector> post_dominators_;      // themselves excluded, but for loops
  llvm::BitVector divergent_;
};

}  // namespace metal::compiler
