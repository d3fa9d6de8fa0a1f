// Assigns sums of matrix products to places in memory, where they stay between products.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace metal::cpu {

// A product and the sum that it is added to share a place, and so do a phi and its incoming values,
// unless one of them is needed after another has overwritten the place. A value without a place
// stays an ordinary one.
class SumMemory {
 public:
  SumMemory(llvm::Function& wide, llvm::ArrayRef<llvm::CallInst*> products);

  // The place of a product or phi; null if it has none.
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
  void allocate_place(llvm::ArrayRef<llvm::Value*> values);

  llvm::Function& wide_;
  llvm::EquivalenceClasses<llvm::Value*> groups_;
  llvm::DenseMap<const llvm::Value*, llvm::Value*> places_;
};

}  // namespace metal::cpu
