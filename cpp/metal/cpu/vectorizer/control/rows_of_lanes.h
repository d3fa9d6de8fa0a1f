// What it takes to run the loops of a gang's lanes one after the other.
#pragma once

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Transforms/Utils/ValueMapper.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

namespace llvm {
class CallInst;
class Loop;
class LoopInfo;
class ScalarEvolution;
}  // namespace llvm

namespace metal::cpu {

// The loops of a body, and how lanes run them. The constructor brings loops into LLVM's simple
// form.
class LoopsOfLanes {
 public:
  LoopsOfLanes(llvm::Function& body, const BodyShapes& shapes,
               llvm::FunctionAnalysisManager& analyses);

  llvm::LoopInfo& loops() const { return loops_; }
  llvm::ScalarEvolution& evolution() const { return evolution_; }
  const ShapeAnalysis& shapes() const { return shapes_; }

 private:
  llvm::LoopInfo& loops_;
  llvm::ScalarEvolution& evolution_;
  const llvm::PostDominatorTree post_dominators_;
  const ShapeAnalysis shapes_;
};

// Where a loop begins and ends.
struct RowLoopPlace {
  llvm::BasicBlock* before;
  llvm::Value* runs;       // the condition of the branch in `before` that guards the loop, or null
  llvm::BasicBlock* last;  // the only block that leaves the loop
  llvm::BasicBlock* exit;
  llvm::BasicBlock* after;  // where lanes meet that ran it, and those that did not
};

// From the preheader to the exit block; with `guarded`, from the branch that guards the loop, if
// nothing else depends on that. All lanes then compute what the preheader computes.
RowLoopPlace find_place(const llvm::Loop& loop, bool guarded);

// Whether the number of iterations can be computed in front of the loop.
bool is_counted(const llvm::Loop& loop, llvm::ScalarEvolution& evolution);
// That number, as i64. It is not 0 if the loop has no guard.
llvm::Value* count_of(const llvm::Loop& loop, const RowLoopPlace& place,
                      llvm::ScalarEvolution& evolution);

// About how often each lane runs the loop, if that is known better or worse: 0 only if it does not
// run it. Otherwise null.
llvm::Value* estimate_of(const llvm::Loop& loop, const RowLoopPlace& place,
                         llvm::ScalarEvolution& evolution);

// Whether all lanes run, and have as many iterations in the mean, and none more than an int32
// holds.
llvm::Value* have_in_the_mean(llvm::IRBuilder<>& b, llvm::Value& count, uint64_t iterations,
                              unsigned width);

// An operation on lanes. It depends on the lanes that run it, so it stays in its block.
llvm::CallInst* call_lanes(llvm::IRBuilder<>& b, const llvm::Twine& name, llvm::Type* result,
                           llvm::ArrayRef<llvm::Value*> operands);

// What a loop takes from outside, for the lane whose row it is.
class ValuesOfRow {
 public:
  ValuesOfRow(const llvm::Loop& loop, const ShapeAnalysis& shapes);

  void add(llvm::Value& value) { of_row_[&value] = nullptr; }
  // Reads them from that lane.
  void read(llvm::IRBuilder<>& b, llvm::Value* row);
  llvm::Value* of(llvm::Value* value) const;
  void add_to(llvm::ValueToValueMapTy& values) const;

 private:
  // Those that differ between lanes. Others are the same for every row.
  llvm::MapVector<llvm::Value*, llvm::Value*> of_row_;
};

// Ends a block behind the rows: each lane goes on with the values that it has instead of the
// loop's. `alone` is the block in front of the loop itself.
void leave_rows(llvm::IRBuilder<>& b, const RowLoopPlace& place, llvm::BasicBlock& alone,
                const llvm::ValueToValueMapTy& results);

}  // namespace metal::cpu
