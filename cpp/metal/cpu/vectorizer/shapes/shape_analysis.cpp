#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "metal/cpu/vectorizer/shapes/shape_transfer.h"

namespace metal::cpu {
namespace {

// What decides which way a branch or a switch takes; null if there is only one.
const llvm::Value* condition_of(const llvm::Instruction& terminator) {
  if (const auto* choice = llvm::dyn_cast<llvm::SwitchInst>(&terminator))
    return choice->getCondition();
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(&terminator);
  return branch && branch->isConditional() ? branch->getCondition() : nullptr;
}

}  // namespace

using llvm::BasicBlock;

ShapeAnalysis::ShapeAnalysis(llvm::Function& body, const BodyShapes& shapes,
                             const llvm::PostDominatorTree& post_dominators,
                             const llvm::LoopInfo& loops,
                             const llvm::DenseSet<const BasicBlock*>& forced)
    : body_(body),
      shapes_(shapes),
      post_dominators_(post_dominators),
      loops_(loops),
      forced_(forced) {
  for (BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&body)) {
    position_[block] = static_cast<unsigned>(order_.size());
    order_.push_back(block);
  }
  run();
}

Shape ShapeAnalysis::shape(const llvm::Value* value) const {
  if (const auto* argument = llvm::dyn_cast<llvm::Argument>(value))
    return shapes_.arguments[argument->getArgNo()];
  if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(value))
    return Shape::uniform(number->getValue().countr_zero());
  if (!llvm::isa<llvm::Instruction>(value)) return Shape::uniform();
  const auto found = known_.find(value);
  return found == known_.end() ? Shape::undefined() : found->second;
}

// Shapes only move down the lattice, and blocks only become divergent, so this terminates.
void ShapeAnalysis::run() {
  bool changed = true;
  while (changed) {
    while (update_values()) {
    }
    changed = update_control();
  }
}

Shape ShapeAnalysis::phi_shape(const llvm::PHINode& phi) const {
  Shape joined = Shape::undefined();
  for (const llvm::Value* incoming : phi.incoming_values()) {
    if (!llvm::isa<llvm::UndefValue>(incoming)) joined = joined.join(shape(incoming));
  }
  if (!joined.exact()) return Shape::varying();
  if (joined.is_undefined() || !joins_.contains(phi.getParent())) return joined;
  // A phi of divergent paths is varying, unless all incoming values are one constant.
  const llvm::Value* first = phi.getIncomingValue(0);
  const bool same = llvm::all_equal(phi.incoming_values());
  return same && llvm::isa<llvm::Constant>(first) ? joined : Shape::varying();
}

bool ShapeAnalysis::update_values() {
  bool changed = false;
  for (const BasicBlock* block : order_) {
    for (const llvm::Instruction& instruction : *block) {
      if (instruction.getType()->isVoidTy()) continue;
      Shape& known = known_.try_emplace(&instruction, Shape::undefined()).first->second;
      if (known == Shape::varying()) continue;
      const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction);
      Shape next = phi ? phi_shape(*phi)
                       : result_shape(instruction, shapes_.width, guarded(block),
                                      [this](const llvm::Value* value) { return shape(value); });
      next = known.join(next);
      if (next == known) continue;
      known_[&instruction] = std::move(next);
      changed = true;
    }
  }
  return changed;
}

bool ShapeAnalysis::update_control() {
  bool changed = false;
  for (const BasicBlock* block : order_) {
    const llvm::Value* decides = condition_of(*block->getTerminator());
    if (!decides || divergent_.contains(block)) continue;
    const Shape condition = shape(decides);
    if (!forced_.contains(block) && (condition.is_uniform() || condition.is_undefined())) continue;
    divergent_.insert(block);
    mark_joins(block);
    mark_loops(block);
    changed = true;
  }
  return changed;
}

const BasicBlock* ShapeAnalysis::reconvergence_point(const BasicBlock* branch) const {
  const auto* node = post_dominators_.getNode(branch);
  return node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
}

// A block that two disjoint paths from the branch reach is a join. Every block on the paths is
// labelled with the latest join before it, or with the first block of its path.
void ShapeAnalysis::mark_joins(const BasicBlock* branch) {
  const BasicBlock* end = reconvergence_point(branch);
  llvm::DenseMap<const BasicBlock*, const BasicBlock*> label;
  auto reach = [&](const BasicBlock* from, const BasicBlock* to, const BasicBlock* with) {
    if (position_[to] <= position_[from]) return;  // the next iteration
    auto [place, is_new] = label.try_emplace(to, with);
    if (is_new || place->second == with) return;
    place->second = to;
    joins_.insert(to);
  };
  for (const BasicBlock* successor : llvm::successors(branch)) reach(branch, successor, successor);
  for (unsigned i = position_[branch] + 1; i < order_.size(); ++i) {
    const auto found = label.find(order_[i]);
    if (found == label.end()) continue;
    if (order_[i] == end) break;
    guarded_.insert(order_[i]);
    const BasicBlock* with = found->second;  // the next insertion may move it
    for (const BasicBlock* successor : llvm::successors(order_[i]))
      reach(order_[i], successor, with);
  }
}

// If some lanes leave a loop by this branch while others stay, the loop is divergent: values that
// are used after it differ.
void ShapeAnalysis::mark_loops(const BasicBlock* branch) {
  const BasicBlock* end = reconvergence_point(branch);
  for (const llvm::Loop* loop = loops_.getLoopFor(branch); loop; loop = loop->getParentLoop()) {
    if (end && loop->contains(end)) return;
    divergent_loops_.insert(loop);
    guarded_.insert(loop->block_begin(), loop->block_end());
    llvm::SmallVector<BasicBlock*> exits;
    loop->getExitBlocks(exits);
    joins_.insert(exits.begin(), exits.end());
  }
}

}  // namespace metal::cpu
