#include "metal/cpu/vectorizer/control/share_rows.h"

#include <list>

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/kernel_form.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/control/marker_calls.h"
#include "metal/cpu/vectorizer/control/row_loops.h"
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

// How often the loop runs, as i64. It runs once at least.
Value* count_of(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  Instruction* end = loop.getLoopPreheader()->getTerminator();
  llvm::SCEVExpander expander(evolution, end->getModule()->getDataLayout(), "count");
  const llvm::SCEV* repeats = evolution.getBackedgeTakenCount(&loop);
  llvm::IRBuilder<> b(end);
  Value* count =
      b.CreateZExt(expander.expandCodeFor(repeats, repeats->getType(), end), b.getInt64Ty());
  return b.CreateAdd(count, b.getInt64(1));
}

// Puts this in front of the loop:
//
//   for each lane's row, if all lanes run and have enough to do:    rows
//     as long as there are as many iterations as lanes, run them    together
//     if some are left, the first lanes run them                    more, rest
//     keep the results for the lane whose row it is                 row.end
class RowSharer {
 public:
  RowSharer(const llvm::Loop& loop, RowLoop form, const ShapeAnalysis& shapes, Value& count,
            Value& lane)
      : form_(std::move(form)),
        before_(*loop.getLoopPreheader()),
        original_(*loop.getHeader()),
        exit_(*loop.getExitBlock()),
        count_(count),
        lane_(lane),
        width_(shapes.width()),
        b_(original_.getContext()) {
    for (const Instruction& instruction : original_) {
      for (Value* operand : instruction.operands()) {
        const auto* source = llvm::dyn_cast<Instruction>(operand);
        const bool is_outside =
            source ? source->getParent() != &original_ : llvm::isa<llvm::Argument>(operand);
        if (is_outside && !shapes.shape(operand).is_uniform()) of_row_[operand] = nullptr;
      }
    }
    if (!llvm::isa<Constant>(count_)) of_row_[&count_] = nullptr;
  }

  void run() {
    BasicBlock* alone = llvm::SplitBlock(&before_, before_.getTerminator());
    auto new_block = [&](const char* name) {
      return BasicBlock::Create(b_.getContext(), name, original_.getParent(), alone);
    };
    rows_ = new_block("rows");
    together_ = new_block("together");
    if (!is_whole()) more_ = new_block("more"), rest_ = new_block("rest");
    row_end_ = new_block("row.end");
    before_.getTerminator()->eraseFromParent();
    b_.SetInsertPoint(&before_);
    b_.CreateCondBr(can_share(), rows_, alone);
    start_row();
    run_together();
    if (more_) run_rest();
    end_row();
  }

 private:
  using Values = llvm::SmallVector<Value*, 1>;  // of each fold

  // Whether no iterations are left at the end of a row.
  bool is_whole() const {
    const auto* known = llvm::dyn_cast<ConstantInt>(&count_);
    return known && known->getZExtValue() % width_ == 0;
  }

  // What depends on the lanes that run it, so it stays in its block.
  llvm::FunctionCallee lane_function(const std::string& name, llvm::Type* result,
                                     llvm::ArrayRef<llvm::Type*> parameters) {
    auto callee = original_.getModule()->getOrInsertFunction(
        name, llvm::FunctionType::get(result, parameters, false));
    auto* function = checked_cast<llvm::Function>(callee.getCallee());
    function->setConvergent();
    function->setDoesNotThrow();
    function->setWillReturn();
    function->setDoesNotAccessMemory();
    return callee;
  }

  Value* can_share() {
    Value* all = b_.CreateCall(lane_function(kAllRun, b_.getInt1Ty(), {}));
    if (llvm::isa<Constant>(count_)) return all;
    const auto in_all = declare_marker(*original_.getModule(), kAllLanes, b_.getInt1Ty(), true);
    Value* enough = b_.CreateICmpUGE(&count_, b_.getInt64(form_.least_iterations));
    return b_.CreateAnd(all, b_.CreateCall(in_all, {enough}));
  }

  void start_row() {
    b_.SetInsertPoint(rows_);
    row_ = b_.CreatePHI(b_.getInt32Ty(), 2, "row");
    row_->addIncoming(b_.getInt32(0), &before_);
    for (const RowFold& fold : form_.folds) {
      results_.push_back(b_.CreatePHI(fold.phi->getType(), 2));
      results_.back()->addIncoming(Constant::getNullValue(fold.phi->getType()), &before_);
    }
    for (auto& [value, of_row] : of_row_) {
      std::string name;
      llvm::raw_string_ostream(name)
          << compiler::kRuntimePrefix << "simd_shuffle_" << *value->getType();
      const auto shuffle =
          lane_function(name, value->getType(), {value->getType(), b_.getInt32Ty()});
      of_row = b_.CreateCall(shuffle, {value, row_});
    }
    b_.CreateBr(together_);
  }

  // The value of the lane whose row it is.
  Value* of_row(Value* value) {
    const auto found = of_row_.find(value);
    return found == of_row_.end() ? value : found->second;
  }

  Value* start_of(const PHINode& phi) const {
    return phi.getIncomingValue(phi.getIncomingBlock(0) == &original_ ? 1 : 0);
  }

  // Lanes that start with the same value only take it once if it does not change the result.
  Value* first_of(const RowFold& fold) {
    if (fold.is_idempotent) return of_row(start_of(*fold.phi));
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
      phi->addIncoming(first_of(fold), rows_);
      phi->addIncoming(value, together_);
    }
    Value* last = b_.CreateSub(of_row(&count_), b_.getInt64(width_));
    b_.CreateCondBr(b_.CreateICmpULE(end_, last), together_, more_ ? more_ : row_end_);
  }

  // The lanes whose iterations are left run them.
  void run_rest() {
    b_.SetInsertPoint(more_);
    Value* number = b_.CreateAdd(end_, b_.CreateZExt(&lane_, b_.getInt64Ty()));
    b_.CreateCondBr(b_.CreateICmpULT(number, of_row(&count_)), rest_, row_end_);
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

  // Each lane clones the iteration `first` + its number. The results are those of the folds.
  Values clone_iterations(Value* first, const Values& folded) {
    llvm::ValueToValueMapTy values;
    for (const auto& [fold, value] : llvm::zip_equal(form_.folds, folded)) values[fold.phi] = value;
    for (const RowIndex& index : form_.indices) values[index.phi] = index_of(index, first);
    for (const auto& [value, of_row] : of_row_) values[value] = of_row;
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
    Value* start = of_row(start_of(*index.phi));
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

  void end_row() {
    b_.SetInsertPoint(row_end_);
    Value* is_own = b_.CreateICmpEQ(&lane_, row_);
    Values results;
    for (const auto& [fold, value, result] : llvm::zip_equal(form_.folds, folded_, results_)) {
      const std::string name =
          (compiler::kRuntimePrefix + llvm::Twine("simd_") + fold.operation).str();
      llvm::CallInst* all =
          b_.CreateCall(lane_function(name, value->getType(), {value->getType()}), {value});
      if (llvm::isa<llvm::FPMathOperator>(fold.update)) all->copyFastMathFlags(fold.update);
      Value* kept = b_.CreateSelect(is_own, all, result);
      result->addIncoming(kept, row_end_);
      results.push_back(kept);
    }
    Value* next = b_.CreateAdd(row_, b_.getInt32(1));
    row_->addIncoming(next, row_end_);
    auto* done = BasicBlock::Create(b_.getContext(), "rows.end", original_.getParent(), &exit_);
    b_.CreateCondBr(b_.CreateICmpULT(next, b_.getInt32(width_)), rows_, done);
    b_.SetInsertPoint(done);
    leave(results);
  }

  // Each lane goes on with its results.
  void leave(const Values& results) {
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
    BasicBlock* done = b_.GetInsertBlock();
    b_.CreateBr(&exit_);
    for (PHINode& phi : exit_.phis()) {
      Value* value = phi.getIncomingValueForBlock(&original_);
      const auto found = values.find(value);
      phi.addIncoming(found == values.end() ? value : &*found->second, done);
    }
  }

  RowLoop form_;
  BasicBlock &before_, &original_, &exit_;
  Value &count_, &lane_;
  unsigned width_;
  llvm::IRBuilder<> b_;
  BasicBlock *rows_ = nullptr, *together_ = nullptr, *row_end_ = nullptr;
  BasicBlock *more_ = nullptr, *rest_ = nullptr;  // null if no iterations are left
  PHINode* row_ = nullptr;                        // the number of the row's lane
  Value* end_ = nullptr;                          // behind the iterations that ran together
  // What the loop takes from outside that differs between lanes, and its value of the row's lane.
  llvm::MapVector<Value*, Value*> of_row_;
  Values folded_;                           // by each lane, at the end of the row
  llvm::SmallVector<PHINode*, 1> results_;  // each lane's, of the rows so far
};

}  // namespace

bool share_rows(llvm::Function& body, const BodyShapes& shapes, llvm::Argument& lane,
                llvm::FunctionAnalysisManager& analyses) {
  llvm::FunctionPassManager simplify;
  simplify.addPass(llvm::LoopSimplifyPass());
  simplify.addPass(llvm::LCSSAPass());
  analyses.clear();
  simplify.run(body, analyses);
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(body);
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(body);
  const llvm::PostDominatorTree post_dominators(body);
  const ShapeAnalysis analysis(body, shapes, post_dominators, loops);
  std::list<RowSharer> found;
  llvm::SmallPtrSet<const BasicBlock*, 4> loops_themselves;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    auto form = find_row_loop(*loop, analysis, evolution);
    if (!form) continue;
    found.emplace_back(*loop, std::move(*form), analysis, *count_of(*loop, evolution), lane);
    loops_themselves.insert(loop->getHeader());
  }
  for (RowSharer& loop : found) loop.run();
  if (found.empty()) return false;
  analyses.clear();
  unroll_rows_of(body, shapes, analyses, loops_themselves);
  return true;
}

}  // namespace metal::cpu
