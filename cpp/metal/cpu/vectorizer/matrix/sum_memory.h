// Gives sums of products of matrices places in memory, in which they stay from product to product.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace metal::cpu {

// A product and what it is added to share a place, and so do the values that meet at the start of a
// block, if none of them is needed once another has taken the place. A value that has no place is
// an ordinary one.
class SumMemory {
 public:
  SumMemory(llvm::Function& wide, llvm::ArrayRef<llvm::CallInst*> products);

  // A product's or a phi's; null if it has none.
  llvm::Value* place(const llvm::Value* value) const { return places_.lookup(value); }

 private:
  using Members = llvm::SmallPtrSet<llvm::Value*, 8>;
  using Blocks = llvm::DenseMap<const llvm::BasicBlock*, llvm::Value*>;

  void find_groups(llvm::ArrayRef<llvm::CallInst*> products);
  bool may_share(const Members& members) const;
  llvm::Value* at_start(const llvm::BasicBlock& block, const Members& members,
                        const Blocks& ends) const;
  llvm::Value* go_through(const llvm::BasicBlock& block, llvm::Value* held,
                          const Members& members) const;
  bool suits(const llvm::BasicBlock& block, llvm::Value* held, const Members& members) const;
  bool suits_successors(const llvm::BasicBlock& block, const llvm::Value* held,
                        const Members& members) const;
  void give_place(llvm::ArrayRef<llvm::Value*> values);

  llvm::Function& wide_;
  llvm::EquivalenceClasses<llvm::Value*> groups_;
  llvm::DenseMap<const llvm::Value*, llvm::Value*> places_;
};

}  // namespace metal::cpu
