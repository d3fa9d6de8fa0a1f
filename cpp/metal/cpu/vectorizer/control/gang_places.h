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

  // The builder is at the start of the loop's first block.
  void begin_iteration(llvm::IRBuilder<>& b, llvm::BasicBlock* before);
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
  llvm::Value* number_ = nullptr;
  llvm::SmallVector<llvm::Value*> arguments_;
};

}  // namespace metal::cpu
