#include "metal/cpu/vectorizer/control/share_rows.h"

#include <list>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/kernel_form.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/control/marker_calls.h"
#include "metal/cpu/vectorizer/control/row_loops.h"
#include "metal/cpu/vectorizer/control/rows_of_lanes.h"
#include "metal/cpu/vectorizer/memory/unroll_rows.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Constant;
using llvm::ConstantInt;
using llvm::Instruction;
using llvm::PHINode;
using llvm::Value;

// Puts this in front of the loop, or of its guard if rows are ragged:
//
//   for each lane's row, if all lanes run and have enough to do:    rows
//     as long as there are as many iterations as lanes, run them    together
//     if some are left, the first lanes run them                    more, rest
//     keep the results for the lane whose row it is                 row.end
class RowSharer {
 public:
  RowSharer(const llvm::Loop& loop, RowLoop form, const RowLoopPlace& place,
            const ShapeAnalysis& shapes, Value& count, Value& lane)
      : form_(std::move(form)),
        place_(place),
        original_(*loop.getHeader()),
        count_(count),
        lane_(lane),
        width_(shapes.width()),
        b_(original_.getContext()),
        values_(loop, shapes) {
    if (!llvm::isa<Constant>(count_)) values_.add(count_);
  }

  void run() {
    BasicBlock* alone = llvm::SplitBlock(place_.before, place_.before->getTerminator());
    auto new_block = [&](const char* name) {
      return BasicBlock::Create(b_.getContext(), name, original_.getParent(), alone);
    };
    rows_ = new_block("rows");
    together_ = new_block("together");
    if (!is_whole()) more_ = new_block("more"), rest_ = new_block("rest");
    row_end_ = new_block("row.end");
    place_.before->getTerminator()->eraseFromParent();
    b_.SetInsertPoint(place_.before);
    b_.CreateCondBr(can_share(), rows_, alone);
    start_row();
    run_together();
    if (more_) run_rest();
    end_row(*alone);
  }

 private:
  using Values = llvm::SmallVector<Value*, 1>;  // of each fold

  // Whether no iterations are left at the end of a row.
  bool is_whole() const {
    const auto* known = llvm::dyn_cast<ConstantInt>(&count_);
    return !form_.is_ragged && known && known->getZExtValue() % width_ == 0;
  }

  Value* can_share() {
    if (form_.is_ragged) return have_in_the_mean(b_, count_, form_.least_iterations, width_);
    Value* all = call_lanes(b_, kAllRun, b_.getInt1Ty(), {});
    if (llvm::isa<Constant>(count_)) return all;
    const auto in_all = declare_marker(*original_.getModule(), kAllLanes, b_.getInt1Ty(), true);
    Value* enough = b_.CreateICmpUGE(&count_, b_.getInt64(form_.least_iterations));
    return b_.CreateAnd(all, b_.CreateCall(in_all, {enough}));
  }

  void start_row() {
    b_.SetInsertPoint(rows_);
    row_ = b_.CreatePHI(b_.getInt32Ty(), 2, "row");
    row_->addIncoming(b_.getInt32(0), place_.before);
    for (const RowFold& fold : form_.folds) {
      results_.push_back(b_.CreatePHI(fold.phi->getType(), 2));
      results_.back()->addIncoming(Constant::getNullValue(fold.phi->getType()), place_.before);
    }
    values_.read(b_, row_);
    if (form_.is_ragged) {
      Value* is_long = b_.CreateICmpUGE(values_.of(&count_), b_.getInt64(width_));
      b_.CreateCondBr(is_long, together_, more_);
    } else {
      b_.CreateBr(together_);
    }
  }

  Value* start_of(const PHINode& phi) const {
    return phi.getIncomingValue(phi.getIncomingBlock(0) == &original_ ? 1 : 0);
  }

  // Lanes that start with the same value only take it once if it does not change the result.
  Value* first_of(const RowFold& fold) {
    if (fold.is_idempotent) return values_.of(start_of(*fold.phi));
    llvm::Type* type = fold.phi->getType();
    return llvm::ConstantExpr::getBinOpIdentity(fold.update->getOpcode(), type);
  }

  void run_together() {
    b_.SetInsertPoint(together_);
    PHINode* first = b_.CreatePHI(b_.getInt64Ty(), 2, "first");
    llvm::SmallVector<PHINode*, 1> phis;
    for (const RowFold& fold : form_.folds) phis.push_back(b_.CreatePHI(fold.phi->getType(), 2));
    folded_ = clone_iterations(first, Values(phis.begin(), phis.end()));
    end_ = b_.CreateAdd(first, b_.getInt64(width_), "", /*HasNUW=*/true, /*HasNSW=*/true);
    first->addIncoming(b_.getInt64(0), rows_);
    first->addIncoming(end_, together_);
    for (const auto& [fold, phi, value] : llvm::zip_equal(form_.folds, phis, folded_)) {
      firsts_.push_back(first_of(fold));
      phi->addIncoming(firsts_.back(), rows_);
      phi->addIncoming(value, together_);
    }
    Value* last = b_.CreateSub(values_.of(&count_), b_.getInt64(width_));
    b_.CreateCondBr(b_.CreateICmpULE(end_, last), together_, more_ ? more_ : row_end_);
  }

  // The lanes whose iterations are left run them: all of a short row.
  void run_rest() {
    b_.SetInsertPoint(more_);
    if (form_.is_ragged) {
      end_ = after_together(b_.getInt64(0), end_);
      for (const auto& [value, first] : llvm::zip_equal(folded_, firsts_))
        value = after_together(first, value);
    }
    Value* number = b_.CreateAdd(end_, b_.CreateZExt(&lane_, b_.getInt64Ty()));
    b_.CreateCondBr(b_.CreateICmpULT(number, values_.of(&count_)), rest_, row_end_);
    b_.SetInsertPoint(rest_);
    const Values after = clone_iterations(end_, folded_);
    b_.CreateBr(row_end_);
    b_.SetInsertPoint(row_end_);
    for (const auto& [value, some] : llvm::zip_equal(folded_, after)) {
      PHINode* phi = b_.CreatePHI(some->getType(), 2);
      phi->addIncoming(value, more_);
      phi->addIncoming(some, rest_);
      value = phi;
    }
  }

  Value* after_together(Value* otherwise, Value* value) {
    PHINode* phi = b_.CreatePHI(value->getType(), 2);
    phi->addIncoming(otherwise, rows_);
    phi->addIncoming(value, together_);
    return phi;
  }

  // Each lane clones the iteration `first` + its number. The results are those of the folds.
  Values clone_iterations(Value* first, const Values& folded) {
    llvm::ValueToValueMapTy values;
    for (const auto& [fold, value] : llvm::zip_equal(form_.folds, folded)) values[fold.phi] = value;
    for (const RowIndex& index : form_.indices) values[index.phi] = index_of(index, first);
    values_.add_to(values);
    for (const Instruction& instruction : original_) {
      if (llvm::isa<PHINode>(instruction) || instruction.isTerminator()) continue;
      Instruction* copy = b_.Insert(instruction.clone());
      llvm::RemapInstruction(copy, values,
                             llvm::RF_IgnoreMissingLocals | llvm::RF_NoModuleLevelChanges);
      values[&instruction] = copy;
    }
    Values results;
    for (const RowFold& fold : form_.folds) {
      results.push_back(values[fold.update]);
      forget_order(*checked_cast<Instruction>(results.back()));
    }
    return results;
  }

  // Sums of other parts than those of the program may wrap around.
  static void forget_order(Instruction& update) {
    if (!llvm::isa<llvm::FPMathOperator>(update)) update.dropPoisonGeneratingFlags();
  }

  Value* index_of(const RowIndex& index, Value* first) {
    Value* start = values_.of(start_of(*index.phi));
    const bool is_address = index.phi->getType()->isPointerTy();
    llvm::Type* type = is_address ? b_.getInt64Ty() : index.phi->getType();
    Value* grown = b_.CreateAdd(b_.CreateZExtOrTrunc(first, type),
                                b_.CreateZExtOrTrunc(&lane_, type), "", index.is_nuw, index.is_nsw);
    if (index.step != 1) grown = b_.CreateMul(grown, ConstantInt::getSigned(type, index.step));
    if (is_address) return b_.CreateGEP(b_.getInt8Ty(), start, grown);
    const auto* known = llvm::dyn_cast<Constant>(start);
    return known && known->isNullValue()
               ? grown
               : b_.CreateAdd(start, grown, "", index.is_nuw, index.is_nsw);
  }

  void end_row(BasicBlock& alone) {
    b_.SetInsertPoint(row_end_);
    Value* is_own = b_.CreateICmpEQ(&lane_, row_);
    Values results;
    for (const auto& [fold, value, result] : llvm::zip_equal(form_.folds, folded_, results_)) {
      llvm::CallInst* all =
          call_lanes(b_, compiler::kRuntimePrefix + llvm::Twine("simd_") + fold.operation,
                     value->getType(), {value});
      if (llvm::isa<llvm::FPMathOperator>(fold.update)) all->copyFastMathFlags(fold.update);
      Value* kept = b_.CreateSelect(is_own, all, result);
      result->addIncoming(kept, row_end_);
      results.push_back(kept);
    }
    Value* next = b_.CreateAdd(row_, b_.getInt32(1));
    row_->addIncoming(next, row_end_);
    auto* done =
        BasicBlock::Create(b_.getContext(), "rows.end", original_.getParent(), place_.after);
    b_.CreateCondBr(b_.CreateICmpULT(next, b_.getInt32(width_)), rows_, done);
    b_.SetInsertPoint(done);
    leave(results, alone);
  }

  // Each lane goes on with its results.
  void leave(const Values& results, BasicBlock& alone) {
    llvm::ValueToValueMapTy values;
    for (const auto& [fold, result] : llvm::zip_equal(form_.folds, results)) {
      Value* all = result;
      if (!fold.is_idempotent) {
        Instruction* sum = b_.Insert(fold.update->clone());
        forget_order(*sum);
        sum->setOperand(0, start_of(*fold.phi));
        sum->setOperand(1, result);
        all = sum;
      }
      values[fold.update] = all;
    }
    leave_rows(b_, place_, alone, values);
  }

  RowLoop form_;
  RowLoopPlace place_;
  BasicBlock& original_;
  Value &count_, &lane_;
  unsigned width_;
  llvm::IRBuilder<> b_;
  ValuesOfRow values_;
  BasicBlock *rows_ = nullptr, *together_ = nullptr, *row_end_ = nullptr;
  BasicBlock *more_ = nullptr, *rest_ = nullptr;  // null if no iterations are left
  PHINode* row_ = nullptr;                        // the number of the row's lane
  Value* end_ = nullptr;                          // behind the iterations that ran together
  Values firsts_;                                 // what folds start with in a row
  Values folded_;                                 // by each lane, at the end of the row
  llvm::SmallVector<PHINode*, 1> results_;        // each lane's, of the rows so far
};

}  // namespace

bool share_rows(llvm::Function& body, const BodyShapes& shapes, llvm::Argument& lane,
                llvm::FunctionAnalysisManager& analyses) {
  const LoopsOfLanes all(body, shapes, analyses);
  std::list<RowSharer> found;
  llvm::SmallPtrSet<const BasicBlock*, 4> loops_themselves;
  for (const llvm::Loop* loop : all.loops().getLoopsInPreorder()) {
    auto form = find_row_loop(*loop, all.shapes(), all.evolution());
    if (!form) continue;
    const RowLoopPlace place = find_place(*loop, /*guarded=*/form->is_ragged);
    Value* count = count_of(*loop, place, all.evolution());
    found.emplace_back(*loop, std::move(*form), place, all.shapes(), *count, lane);
    loops_themselves.insert(loop->getHeader());
  }
  for (RowSharer& loop : found) loop.run();
  if (found.empty()) return false;
  analyses.clear();
  unroll_rows_of(body, shapes, analyses, loops_themselves);
  return true;
}

}  // namespace metal::cpu
