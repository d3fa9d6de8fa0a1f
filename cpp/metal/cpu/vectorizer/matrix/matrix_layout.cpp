#include "metal/cpu/vectorizer/matrix/matrix_layout.h"

#include <map>
#include <set>

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Local.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/matrix/matrix_operations.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;

constexpr unsigned kDeepest = 12;  // longest chain of operations between two matrices

// Whether an instruction does the same in all lanes and does not depend on their order.
bool is_elementwise(const Instruction& instruction) {
  if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction)) {
    const auto* from = llvm::dyn_cast<llvm::FixedVectorType>(cast->getSrcTy());
    const auto* to = llvm::dyn_cast<llvm::FixedVectorType>(cast->getDestTy());
    return from && to && from->getNumElements() == to->getNumElements();
  }
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    return call->getType()->isVectorTy() && llvm::isTriviallyVectorizable(call->getIntrinsicID()) &&
           llvm::all_of(call->args(), [](const auto& a) { return a->getType()->isVectorTy(); });
  return instruction.isBinaryOp() || instruction.isUnaryOp() ||
         llvm::isa<llvm::CmpInst, llvm::FreezeInst>(instruction) ||
         (llvm::isa<llvm::SelectInst>(instruction) &&
          instruction.getOperand(0)->getType()->isVectorTy());
}

class Layout {
 public:
  Layout(llvm::Function& wide, const llvm::DominatorTree& dominators)
      : wide_(wide), dominators_(dominators) {}

  bool run() {
    llvm::SmallVector<llvm::CallInst*> wanted;
    for (Instruction& instruction : llvm::instructions(wide_)) {
      if (auto* rows = matrix_operation(&instruction, kMatrixRows)) wanted.push_back(rows);
    }
    llvm::SmallVector<llvm::WeakTrackingVH> replaced;
    for (llvm::CallInst* rows : wanted) {
      const LaneElements lanes{rows->getArgOperand(0), rows->getArgOperand(1)};
      if (!is_worth_it(lanes)) continue;
      rows->replaceAllUsesWith(rows_of(lanes));
      replaced.emplace_back(rows);
    }
    llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(replaced);
    for (const llvm::WeakTrackingVH& phi : replaced_phis_) {
      if (phi) llvm::RecursivelyDeleteDeadPHINode(checked_cast<llvm::PHINode>(&*phi));
    }
    return !wanted.empty();
  }

 private:
  using Key = std::pair<Value*, Value*>;

  // What it costs to have lanes' elements row by row.
  struct Cost {
    unsigned matrices = 0;  // values that are row by row already
    unsigned changes = 0;   // changes of layout

    void operator+=(const Cost& other) {
      matrices += other.matrices;
      changes += other.changes;
    }
  };

  // Otherwise each matrix would be changed to lanes' elements, and their results back.
  bool is_worth_it(const LaneElements& lanes) {
    visited_.clear();
    const Cost cost = cost_of(lanes, 0);
    return cost.changes <= cost.matrices;
  }

  static bool are_constant(const LaneElements& lanes) {
    return llvm::isa<llvm::Constant>(lanes.first) && llvm::isa<llvm::Constant>(lanes.second);
  }

  // The value that all lanes have, or null.
  static Value* splat_of(const LaneElements& lanes) {
    Value* value = llvm::getSplatValue(lanes.first);
    return value && value == llvm::getSplatValue(lanes.second) ? value : nullptr;
  }

  // The matrix that these elements were extracted from, or null.
  static Value* matrix_of(const LaneElements& lanes) {
    llvm::CallInst* first = matrix_operation(lanes.first, kMatrixLanes);
    llvm::CallInst* second = matrix_operation(lanes.second, kMatrixLanes);
    if (!first || !second || first->getArgOperand(0) != second->getArgOperand(0) ||
        element_of_lanes(*first) != 0 || element_of_lanes(*second) != 1)
      return nullptr;
    return first->getArgOperand(0);
  }

  static bool are_phis(const LaneElements& lanes) {
    const auto* first = llvm::dyn_cast<llvm::PHINode>(lanes.first);
    const auto* second = llvm::dyn_cast<llvm::PHINode>(lanes.second);
    return first && second && first->getParent() == second->getParent();
  }

  // Whether the first and the second elements are computed by the same operation.
  static bool are_alike(const LaneElements& lanes) {
    const auto* first = llvm::dyn_cast<Instruction>(lanes.first);
    const auto* second = llvm::dyn_cast<Instruction>(lanes.second);
    return first && second && first->getParent() == second->getParent() && is_elementwise(*first) &&
           first->isSameOperationAs(second) && first->hasSameSubclassOptionalData(second);
  }

  static LaneElements incoming(const LaneElements& phis, unsigned number) {
    auto* first = checked_cast<llvm::PHINode>(phis.first);
    auto* second = checked_cast<llvm::PHINode>(phis.second);
    llvm::BasicBlock* from = first->getIncomingBlock(number);
    return {first->getIncomingValue(number), second->getIncomingValueForBlock(from)};
  }

  static unsigned operand_count(const Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    return call ? call->arg_size() : instruction.getNumOperands();
  }

  static LaneElements operands(const LaneElements& lanes, unsigned number) {
    return {checked_cast<Instruction>(lanes.first)->getOperand(number),
            checked_cast<Instruction>(lanes.second)->getOperand(number)};
  }

  Cost cost_of(const LaneElements& lanes, unsigned depth) {
    if (known_.contains({lanes.first, lanes.second}) || matrix_of(lanes)) return {.matrices = 1};
    if (are_constant(lanes) || splat_of(lanes)) return {};
    if (!visited_.insert({lanes.first, lanes.second}).second) return {};
    Cost cost;
    if (depth < kDeepest && are_phis(lanes)) {
      const auto* phi = checked_cast<llvm::PHINode>(lanes.first);
      for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
        cost += cost_of(incoming(lanes, i), depth + 1);
      if (cost.matrices > 0) return {.matrices = 1};
    } else if (depth < kDeepest && are_alike(lanes)) {
      for (unsigned i = 0; i < operand_count(*checked_cast<Instruction>(lanes.first)); ++i)
        cost += cost_of(operands(lanes, i), depth + 1);
      if (cost.changes <= cost.matrices) return cost;
    }
    return {.changes = 1};
  }

  Value* rows_of(const LaneElements& lanes) {
    if (Value* matrix = matrix_of(lanes)) return matrix;
    Value*& known = known_[{lanes.first, lanes.second}];
    if (known) return known;
    llvm::IRBuilder<> b(wide_.getContext());
    move_after(b, lanes);
    if (Value* value = splat_of(lanes))
      return known = b.CreateVectorSplat(kMatrixElementCount, value);
    if (are_constant(lanes))
      return known = b.CreateShuffleVector(lanes.first, lanes.second, rows_mask());
    if (!are_phis(lanes) && !are_alike(lanes)) return known = create_rows(b, lanes);
    if (!is_worth_it(lanes)) return known = create_rows(b, lanes);
    return are_phis(lanes) ? phi_of_rows(lanes) : known = computed_in_rows(b, lanes);
  }

  // Where lanes' elements are still used, they are extracted from the matrix. Elements of 32 bits
  // are kept as floats, as sums of products are floats.
  Value* phi_of_rows(const LaneElements& lanes) {
    auto* first = checked_cast<llvm::PHINode>(lanes.first);
    auto* second = checked_cast<llvm::PHINode>(lanes.second);
    llvm::IRBuilder<> b(first);
    llvm::Type* element = first->getType()->getScalarType();
    llvm::Type* type = matrix_type(element->isIntegerTy(32) ? b.getFloatTy() : element);
    llvm::PHINode* phi =
        b.CreatePHI(type, first->getNumIncomingValues(), first->getName() + ".rows");
    b.SetInsertPoint(first->getParent(), first->getParent()->getFirstInsertionPt());
    Value* rows = known_[{first, second}] = b.CreateBitCast(phi, matrix_type(element));
    const LaneElements taken = create_lanes(b, rows);
    first->replaceAllUsesWith(taken.first);
    second->replaceAllUsesWith(taken.second);
    replaced_phis_.emplace_back(first);
    replaced_phis_.emplace_back(second);
    for (unsigned i = 0; i < first->getNumIncomingValues(); ++i) {
      b.SetInsertPoint(first->getIncomingBlock(i)->getTerminator());
      phi->addIncoming(cast_bits(b, rows_of(incoming(lanes, i)), type), first->getIncomingBlock(i));
    }
    return rows;
  }

  static Value* cast_bits(llvm::IRBuilder<>& b, Value* matrix, llvm::Type* type) {
    auto* cast = llvm::dyn_cast<llvm::BitCastInst>(matrix);
    return cast && cast->getSrcTy() == type ? cast->getOperand(0) : b.CreateBitCast(matrix, type);
  }

  Value* computed_in_rows(llvm::IRBuilder<>& b, const LaneElements& lanes) {
    auto* lane_wise = checked_cast<Instruction>(lanes.first);
    llvm::SmallVector<Value*> rows;
    for (unsigned i = 0; i < operand_count(*lane_wise); ++i)
      rows.push_back(rows_of(operands(lanes, i)));
    llvm::Type* type = matrix_type(lane_wise->getType()->getScalarType());
    if (llvm::isa<llvm::BitCastInst>(lane_wise)) return cast_bits(b, rows[0], type);
    if (auto* cast = llvm::dyn_cast<llvm::CastInst>(lane_wise)) {
      Value* result = b.CreateCast(cast->getOpcode(), rows[0], type);
      if (auto* made = llvm::dyn_cast<Instruction>(result)) made->copyIRFlags(cast);
      return result;
    }
    if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(lane_wise)) {
      llvm::CallInst* result = b.CreateIntrinsic(type, call->getIntrinsicID(), rows);
      result->copyIRFlags(call);
      return result;
    }
    Instruction* copy = lane_wise->clone();
    for (unsigned i = 0; i < rows.size(); ++i) copy->setOperand(i, rows[i]);
    copy->mutateType(type);
    return b.Insert(copy);
  }

  // Sets the builder to the first place where both values can be used.
  void move_after(llvm::IRBuilder<>& b, const LaneElements& lanes) const {
    auto* first = llvm::dyn_cast<Instruction>(lanes.first);
    auto* second = llvm::dyn_cast<Instruction>(lanes.second);
    Instruction* later = first && second ? (dominators_.dominates(first, second) ? second : first)
                         : first         ? first
                                         : second;
    llvm::BasicBlock* block = later ? later->getParent() : &wide_.getEntryBlock();
    if (later && !llvm::isa<llvm::PHINode>(later)) {
      b.SetInsertPoint(block, std::next(later->getIterator()));
    } else {
      b.SetInsertPoint(block, block->getFirstInsertionPt());
    }
  }

  llvm::Function& wide_;
  const llvm::DominatorTree& dominators_;
  std::map<Key, Value*> known_;
  std::set<Key> visited_;
  llvm::SmallVector<llvm::WeakTrackingVH> replaced_phis_;
};

}  // namespace

llvm::PreservedAnalyses MatrixLayoutPass::run(llvm::Function& wide,
                                              llvm::FunctionAnalysisManager& analyses) {
  if (!Layout(wide, analyses.getResult<llvm::DominatorTreeAnalysis>(wide)).run())
    return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace metal::cpu
