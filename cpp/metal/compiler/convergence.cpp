#include "metal/compiler/convergence.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"

namespace metal::compiler {
namespace {

constexpr unsigned kNoWay = ~0U;

}  // namespace

Convergence::Convergence(llvm::Function& function, llvm::UniformityInfo& uniformity,
                         IsWaiting is_waiting)
    : dominators_(function), loops_(dominators_) {
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
  regions_.resize(blocks_.size());
  divergent_.resize(blocks_.size());
  for (unsigned i = 0; i < blocks_.size(); ++i) {
    if (next_[i].size() < 2 || !uniformity.hasDivergentTerminator(*blocks_[i])) continue;
    regions_[i] = find_region(i);
    divergent_ |= regions_[i];
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

llvm::BitVector Convergence::find_region(unsigned branch) const {
  llvm::BitVector ends = post_dominators_[branch];
  ends.reset(branch);
  for (unsigned end : post_dominators_[branch].set_bits()) {
    if (is_in_later_iteration(end, branch)) ends.reset(end);
  }
  return find_between(branch, ends);
}

llvm::BasicBlock* Convergence::join_of(const llvm::BasicBlock& branch) const {
  const unsigned from = number(branch);
  llvm::BitVector inside = regions_[from];
  inside.set(from);
  for (unsigned block : inside.set_bits()) {
    for (unsigned to : next_[block]) {
      if (!inside[to]) return blocks_[to];
    }
  }
  return nullptr;
}

llvm::SmallVector<llvm::BasicBlock*> Convergence::divergent_blocks(
    const llvm::BasicBlock& branch) const {
  llvm::SmallVector<llvm::BasicBlock*> found;
  for (unsigned block : regions_[number(branch)].set_bits()) found.push_back(blocks_[block]);
  return found;
}

// Whether some threads come from a branch to a block in the same iteration of a loop, and others in
// a later one.
bool Convergence::is_in_later_iteration(unsigned block, unsigned branch) const {
  const llvm::Loop* loop = loops_.getLoopFor(blocks_[branch]);
  while (loop && !loop->contains(blocks_[block])) loop = loop->getParentLoop();
  if (!loop) return false;
  llvm::BitVector end(blocks_.size());
  end.set(block);
  const llvm::BitVector before = find_between(branch, end);
  for (; loop; loop = loop->getParentLoop()) {
    if (before[number(*loop->getHeader())]) return true;
  }
  return false;
}

llvm::BitVector Convergence::find_between(unsigned branch, const llvm::BitVector& ends) const {
  llvm::SmallVector<unsigned> work(next_[branch].begin(), next_[branch].end());
  llvm::BitVector seen(blocks_.size());
  while (!work.empty()) {
    const unsigned block = work.pop_back_val();
    if (seen[block] || ends[block]) continue;
    seen.set(block);
    for (unsigned to : next_[block]) work.push_back(to);
  }
  return seen;
}

llvm::SmallVector<llvm::BasicBlock*> Convergence::reached_apart() const {
  llvm::BitVector apart(blocks_.size());
  for (unsigned branch = 0; branch < blocks_.size(); ++branch) {
    if (regions_[branch].empty()) continue;
    const std::vector<unsigned> ways = find_ways(branch);
    for (unsigned block : regions_[branch].set_bits()) {
      if (ways[block] >= blocks_.size()) apart.set(block);
    }
  }
  llvm::SmallVector<llvm::BasicBlock*> found;
  for (unsigned block : apart.set_bits()) found.push_back(blocks_[block]);
  return found;
}

// A way is the branch's successor that threads took or, where such ways join, the number of that
// block plus the number of blocks.
std::vector<unsigned> Convergence::find_ways(unsigned branch) const {
  std::vector<unsigned> ways(blocks_.size(), kNoWay);
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned block = ways.size(); block-- > 0;) {  // blocks before those that they lead to
      if (!regions_[branch][block] || ways[block] == block + ways.size()) continue;
      const unsigned way = find_way(branch, block, ways);
      changed |= way != ways[block];
      ways[block] = way;
    }
  }
  return ways;
}

unsigned Convergence::find_way(unsigned branch, unsigned block,
                               llvm::ArrayRef<unsigned> ways) const {
  unsigned way = kNoWay;
  const auto joins = [&](unsigned other) {
    if (way == kNoWay) way = other;
    return other != kNoWay && other != way;
  };
  const unsigned joined = block + ways.size();
  for (llvm::BasicBlock* before : llvm::predecessors(blocks_[block])) {
    const auto found = numbers_.find(before);
    if (found == numbers_.end()) continue;
    // Threads that come back to the branch by one way may leave it by another one.
    if (found->second == branch && joins(block)) return joined;
    if (joins(ways[found->second])) return joined;
  }
  return way;
}

}  // namespace metal::compiler
