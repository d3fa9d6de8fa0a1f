// Where the gangs of a threadgroup are, in a loop over them.
#pragma once

#include "llvm/IR/IRBuilder.h"
#include "metal/cpu/variant.h"

namespace metal::cpu {

// Counts gangs and their positions, forwards or backwards, without divisions by sizes that are only
// known at run time.
class GangPlaces {
 public:
  // The builder is at the end of the block before the loop.
  GangPlaces(llvm::IRBuilder<>& b, llvm::Value* group, llvm::Value* gangs, const Variant& variant,
             bool backwards);

  // Whether the loop can be bounded. Otherwise it also counts positions from the threadgroup's
  // first or last one, as a division would take longer than gangs that have nothing to do.
  bool can_bound() const { return !counts_positions(); }

  // The builder is at the start of the loop's first block.
  void begin_iteration(llvm::IRBuilder<>& b, llvm::BasicBlock* before);
  // Runs the gangs from `first` to before `end` only, at least one. Both are known before the loop.
  void bound(llvm::IRBuilder<>& b, llvm::Value* first, llvm::Value* end);
  // The builder is in the loop's last block. Returns whether this was the last iteration.
  llvm::Value* end_iteration(llvm::IRBuilder<>& b);

  llvm::Value* number() const { return number_; }
  const llvm::SmallVector<llvm::Value*>& arguments() const { return arguments_; }

 private:
  bool counts_positions() const;

  llvm::Value *group_, *gangs_;
  const Variant& variant_;
  const bool backwards_;
  llvm::Value *starts_[3] = {}, *ends_[3] = {};
  llvm::PHINode *count_ = nullptr, *positions_[3] = {};
  llvm::Value* count_end_;
  llvm::Value* number_ = nullptr;
  llvm::SmallVector<llvm::Value*> arguments_;
};

}  // namespace metal::cpu
