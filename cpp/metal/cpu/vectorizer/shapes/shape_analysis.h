// Which values of a kernel's body are the same in all lanes of a gang, or differ by known offsets,
// and where control flow diverges.
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
};

class ShapeAnalysis {
 public:
  // `forced`: branches whose lanes part whatever the shape of their condition.
  ShapeAnalysis(llvm::Function& body, const BodyShapes& shapes,
                const llvm::PostDominatorTree& post_dominators, const llvm::LoopInfo& loops,
                const llvm::DenseSet<const llvm::BasicBlock*>& forced = {});

  unsigned width() const { return shapes_.width; }
  Shape shape(const llvm::Value* value) const;
  // Lanes may leave `block`, which ends in a conditional branch, in different directions.
  bool divergent(const llvm::BasicBlock* block) const { return divergent_.contains(block); }
  // Lanes may leave the loop in different iterations.
  bool divergent(const llvm::Loop* loop) const { return divergent_loops_.contains(loop); }
  // A branch or an earlier iteration may keep lanes out of `block` while others run it.
  bool guarded(const llvm::BasicBlock* block) const { return guarded_.contains(block); }
  // In an order in which lanes that part run them, one after the other.
  llvm::ArrayRef<const llvm::BasicBlock*> order() const { return order_; }

 private:
  void run();
  bool update_values();
  bool update_control();
  // Where the lanes that part at `branch` meet at the latest; null outside all blocks.
  const llvm::BasicBlock* meeting_point(const llvm::BasicBlock* branch) const;
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
  llvm::DenseSet<const llvm::BasicBlock*> joins_;  // lanes with different pasts meet here
  llvm::DenseSet<const llvm::Loop*> divergent_loops_;
  llvm::DenseSet<const llvm::BasicBlock*> guarded_;
};

}  // namespace metal::cpu
