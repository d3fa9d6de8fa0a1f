// Finds the blocks of a kernel that threads run in convergence.
#pragma once

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/IR/Dominators.h"

namespace metal::compiler {

// The threads that count are those among which values count as uniform: those of a SIMD-group or of
// a threadgroup. A block is convergent if all of them that have not ended run it, and equally
// often. Threads diverge at a branch on something that differs between them, until its paths join
// again. Paths that lead out of the kernel without a `waiting` block do not count.
class Convergence {
 public:
  using IsWaiting = llvm::function_ref<bool(const llvm::BasicBlock&)>;

  Convergence(llvm::Function& function, llvm::UniformityInfo& uniformity, IsWaiting is_waiting);

  bool is_convergent(const llvm::BasicBlock& block) const { return !divergent_[number(block)]; }
  // The blocks to which some of the threads that diverged at a branch may come before others of
  // them: with and without a test of `b`, in `if (a || b) { block }`.
  llvm::SmallVector<llvm::BasicBlock*> reached_apart() const;
  // Whether threads diverge at the end of the block, but for those that leave.
  bool diverges(const llvm::BasicBlock& block) const { return !regions_[number(block)].empty(); }
  // For such a block: where its threads are together again; null if they never are.
  llvm::BasicBlock* join_of(const llvm::BasicBlock& branch) const;
  // The blocks before that.
  llvm::SmallVector<llvm::BasicBlock*> divergent_blocks(const llvm::BasicBlock& branch) const;
  // Whether no waiting block can follow.
  bool is_leaving(const llvm::BasicBlock& block) const { return leaving_[number(block)]; }

 private:
  unsigned number(const llvm::BasicBlock& block) const { return numbers_.lookup(&block); }
  void number_blocks(llvm::Function& function);
  // Marks a block and all blocks from which it can be reached.
  void mark_before(unsigned end, llvm::BitVector& marked) const;
  void find_leaving(IsWaiting is_waiting);
  void find_ends();
  void find_post_dominators();
  // The blocks between a branch and where its threads are back together.
  llvm::BitVector find_region(unsigned branch) const;
  // The blocks on paths from a branch to some others, without these.
  llvm::BitVector find_between(unsigned branch, const llvm::BitVector& ends) const;
  bool is_in_later_iteration(unsigned block, unsigned branch) const;
  // The way by which threads come from a branch to each block of its region.
  std::vector<unsigned> find_ways(unsigned branch) const;
  unsigned find_way(unsigned branch, unsigned block, llvm::ArrayRef<unsigned> ways) const;

  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  std::vector<llvm::BasicBlock*> blocks_;  // in post-order
  llvm::DenseMap<const llvm::BasicBlock*, unsigned> numbers_;
  llvm::BitVector leaving_;                           // no waiting block can be reached from these
  std::vector<llvm::SmallVector<unsigned, 2>> next_;  // successors that are not leaving
  llvm::BitVector ends_;                              // where paths that do not leave end
  std::vector<llvm::BitVector> post_dominators_;      // without itself, unless in a loop
  std::vector<llvm::BitVector> regions_;              // of the blocks where threads diverge
  llvm::BitVector divergent_;
};

}  // namespace metal::compiler
