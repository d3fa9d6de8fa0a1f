#include "metal/compiler/convergence.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"

namespace metal::compiler {

Convergence::Convergence(llvm::Function& function, llvm::UniformityInfo& uniformity,
                         IsWaiting is_waiting) {
  number_blocks(function);
  find_leaving(is_waiting);
  next_.resize(blocks_.size());
  for (unsigned i = 0; i < blocks_.size(); ++i) {
    for (llvm::BasicBlock* successor : llvm::successors(blocks_[i])) {
      const unsigned to = number(*successor);
      if (!leaving_[to] && !llvm::is_contained(next_[i], to)) next_[i].push_back(to);
    }
  }
  find_ends();
  find_post_dominators();
  divergent_.resize(blocks_.size());
  for (unsigned i = 0; i < blocks_.size(); ++i) {
    if (next_[i].size() > 1 && uniformity.hasDivergentTerminator(*blocks_[i])) diverge_at(i);
  }
}

void Convergence::number_blocks(llvm::Function& function) {
  for (llvm::BasicBlock* block : llvm::post_order(&function)) {
    numbers_[block] = blocks_.size();
    blocks_.push_back(block);
  }
}

void Convergence::mark_before(unsigned end, llvm::BitVector& marked) const {
  llvm::SmallVector<unsigned> work = {end};
  marked.set(end);
  while (!work.empty()) {
    for (llvm::BasicBlock* before : llvm::predecessors(blocks_[work.pop_back_val()])) {
      const auto found = numbers_.find(before);
      if (found == numbers_.end() || marked[found->second]) continue;  // unreachable, or known
      marked.set(found->second);
      work.push_back(found->second);
    }
  }
}

// Finds the blocks from which no waiting block can be reached.
void Convergence::find_leaving(IsWaiting is_waiting) {
  leaving_.resize(blocks_.size());
  for (unsigned i = 0; i < blocks_.size(); ++i) {
    if (!leaving_[i] && is_waiting(*blocks_[i])) mark_before(i, leaving_);
  }
  leaving_.flip();
}

// Finds the blocks in which all paths end. A loop that is only left by leaving blocks has one, too.
void Convergence::find_ends() {
  ends_.resize(blocks_.size());
  llvm::BitVector ending(blocks_.size());
  for (unsigned i = 0; i < blocks_.size(); ++i) {
    if (!next_[i].empty() || leaving_[i]) continue;
    ends_.set(i);
    mark_before(i, ending);
  }
  const auto can_leave = [&](unsigned i) {
    return llvm::any_of(llvm::successors(blocks_[i]),
                        [&](llvm::BasicBlock* to) { return leaving_[number(*to)]; });
  };
  for (const bool any : {false, true}) {
    for (unsigned i = 0; i < blocks_.size(); ++i) {
      if (ending[i] || leaving_[i] || !(any || can_leave(i))) continue;
      ends_.set(i);
      mark_before(i, ending);
    }
  }
}

// Finds the blocks through which all paths from a block lead. Leaving blocks do not count.
void Convergence::find_post_dominators() {
  const auto count = static_cast<unsigned>(blocks_.size());
  post_dominators_.assign(count, llvm::BitVector(count, true));
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned i = 0; i < count; ++i) {
      llvm::BitVector common(count, !ends_[i]);
      for (unsigned to : next_[i]) {
        llvm::BitVector through = post_dominators_[to];
        through.set(to);
        common &= through;
      }
      if (common == post_dominators_[i]) continue;
      post_dominators_[i] = std::move(common);
      changed = true;
    }
  }
}

// Marks all blocks between a branch and its post-dominators.
void Convergence::diverge_at(unsigned branch) {
  llvm::SmallVector<unsigned> work(next_[branch].begin(), next_[branch].end());
  llvm::BitVector seen(blocks_.size());
  while (!work.empty()) {
    const unsigned block = work.pop_back_val();
    if (seen[block] || (post_dominators_[branch][block] && block != branch)) continue;
    seen.set(block);
    for (unsigned to : next_[block]) work.push_back(to);
  }
  divergent_ |= seen;
}

}  // namespace metal::compiler
