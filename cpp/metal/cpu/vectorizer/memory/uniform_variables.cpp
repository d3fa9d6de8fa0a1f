#include "metal/cpu/vectorizer/memory/uniform_variables.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/CFG.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;

using BlockSet = llvm::SmallPtrSet<const BasicBlock*, 16>;

// The blocks on all ways from `start`, which is one of them, that do not pass `end`.
BlockSet reachable(const BasicBlock* start, const BasicBlock* end) {
  BlockSet found;
  llvm::SmallVector<const BasicBlock*> open{start};
  while (!open.empty()) {
    const BasicBlock* block = open.pop_back_val();
    if (block != end && found.insert(block).second) llvm::append_range(open, successors(block));
  }
  return found;
}

bool any_in(const BlockSet& blocks, const BlockSet& among) {
  return llvm::any_of(blocks, [&](const BasicBlock* block) { return among.contains(block); });
}

// Whether lanes that part at the end of `branch` come to some of `stores` apart from each other.
// They do not if only one way leads to accesses: the other lanes have done with the variable, as
// those that a test for the end of the data keeps out.
bool part_lanes(const BasicBlock* branch, const BlockSet& stores, const BlockSet& accesses,
                const llvm::PostDominatorTree& post_dominators) {
  const auto ways = llvm::count_if(llvm::successors(branch), [&](const BasicBlock* next) {
    return any_in(accesses, reachable(next, nullptr));
  });
  if (ways < 2) return false;
  const auto* node = post_dominators.getNode(branch);
  const BasicBlock* join = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
  return llvm::any_of(llvm::successors(branch), [&](const BasicBlock* next) {
    return any_in(stores, reachable(next, join));
  });
}

}  // namespace

bool is_same_in_all_lanes(const PrivateVariable& variable, const ShapeAnalysis& shapes,
                          const llvm::PostDominatorTree& post_dominators) {
  BlockSet stores, accesses;
  for (const llvm::Instruction* access : variable.accesses) {
    accesses.insert(access->getParent());
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(access);
    if (!store) continue;
    if (!shapes.shape(store->getPointerOperand()).is_uniform() ||
        !shapes.shape(store->getValueOperand()).is_uniform())
      return false;
    stores.insert(access->getParent());
  }
  return llvm::none_of(*variable.memory->getFunction(), [&](const BasicBlock& block) {
    return shapes.divergent(&block) && part_lanes(&block, stores, accesses, post_dominators);
  });
}

}  // namespace metal::cpu
