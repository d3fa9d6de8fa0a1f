// Finds the shapes of a kernel's values and the divergent control flow.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Instructions.h"
#include "metal/cpu/vectorizer/shapes/shape.h"

namespace llvm {
class Loop;
class LoopInfo;
class PostDominatorTree;
}  // namespace llvm

namespace metal::cpu {

struct BodyShapes {
  unsigned width = 0;            // lanes of a gang
  std::vector<Shape> arguments;  // of the body
  // Whether several gangs, which may be jammed (jam_gangs.h), are known to be in a row.
  bool row_has_gangs = false;
};

class ShapeAnalysis {
 public:
  // `forced`: branches that count as divergent whatever the shape of their condition.
  ShapeAnalysis(llvm::Function& body, const BodyShapes& shapes,
                const llvm::PostDominatorTree& post_dominators, const llvm::LoopInfo& loops,
                const llvm::DenseSet<const llvm::BasicBlock*>& forced = {});

  unsigned width() const { return shapes_.width; }
  Shape shape(const llvm::Value* value) const;
  // Whether lanes may diverge at the branch that ends `block`.
  bool divergent(const llvm::BasicBlock* block) const { return divergent_.contains(block); }
  // Whether lanes may leave the loop in different iterations.
  bool divergent(const llvm::Loop* loop) const { return divergent_loops_.contains(loop); }
  // Whether a branch or an earlier iteration may keep lanes out of `block` while others run it.
  bool guarded(const llvm::BasicBlock* block) const { return guarded_.contains(block); }
  // The blocks in an order in which divergent lanes can run them, one after the other.
  llvm::ArrayRef<const llvm::BasicBlock*> order() const { return order_; }

 private:
  void run();
  bool update_values();
  bool update_control();
  // The block where the lanes that diverge at `branch` reconverge at the latest; null if that is
  // only after the return.
  const llvm::BasicBlock* reconvergence_point(const llvm::BasicBlock* branch) const;
  void mark_joins(const llvm::BasicBlock* branch);
  void mark_loops(const llvm::BasicBlock* branch);
  Shape phi_shape(const llvm::PHINode& phi) const;

  llvm::Function& body_;
  const BodyShapes& shapes_;
  const llvm::PostDominatorTree& post_dominators_;
  const llvm::LoopInfo& loops_;
  const llvm::DenseSet<const llvm::BasicBlock*>& forced_;
  std::vector<const llvm::BasicBlock*> order_;  // reverse post-order
  llvm::DenseMap<const llvm::BasicBlock*, unsigned> position_;
  llvm::DenseMap<const llvm::Value*, Shape> known_;
  llvm::DenseSet<const llvm::BasicBlock*> divergent_;
  llvm::DenseSet<const llvm::BasicBlock*> joins_;  // where divergent paths join
  llvm::DenseSet<const llvm::Loop*> divergent_loops_;
  llvm::DenseSet<const llvm::BasicBlock*> guarded_;
};

}  // namespace metal::cpu
