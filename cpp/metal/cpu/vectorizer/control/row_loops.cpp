#include "metal/cpu/vectorizer/control/row_loops.h"

#include <algorithm>

#include "llvm/Analysis/IVDescriptors.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/vectorizer/control/rows_of_lanes.h"
#include "metal/cpu/vectorizer/memory/buffers.h"
#include "metal/cpu/vectorizer/memory/separate_memory.h"
#include "metal/cpu/vectorizer/prefetch/stride_in_loop.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"
#include "metal/cpu/vectorizer/speculation.h"
#include "metal/cpu/vectorizer/widen/blocks.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::PHINode;
using llvm::Value;

constexpr size_t kLongestRowLoop = 160;  // instructions
// The shortest rows that are worth sharing, in iterations. At the end of a row, lanes may be
// without work, and folds combine lanes.
constexpr uint64_t kShortestRow = 32, kShortestFold = 128;
// In loops over ragged rows, lanes wait for the longest row, and read an element each at a time.
constexpr uint64_t kShortestRagged = 16;

std::optional<RowIndex> as_index(PHINode& phi, const llvm::Loop& loop, bool is_ragged,
                                 llvm::ScalarEvolution& evolution) {
  llvm::InductionDescriptor found;
  if (!llvm::InductionDescriptor::isInductionPHI(&phi, &loop, &evolution, found)) return {};
  const llvm::ConstantInt* step = found.getConstIntStepValue();
  if (!step || step->getValue().getSignificantBits() > 32 || phi.getType()->isFloatingPointTy())
    return {};
  const auto* sum =
      llvm::dyn_cast_or_null<llvm::OverflowingBinaryOperator>(found.getInductionBinOp());
  const bool counts = sum && sum->getOpcode() == Instruction::Add && step->isOne();
  // There are not too many numbers between one that is not negative and a larger one.
  const auto* start = llvm::dyn_cast<llvm::ConstantInt>(found.getStartValue());
  const bool has_few = (is_ragged && evolution.getTypeSizeInBits(phi.getType()) >= 32) ||
                       (start && !start->isNegative());
  return RowIndex{&phi, step->getSExtValue(), counts && sum->hasNoUnsignedWrap(),
                  counts && sum->hasNoSignedWrap() && has_few};
}

// Of an operation whose operands may come in any order, the name for lanes. Maxima and minima of
// floats ignore NaN, and may be either zero if both are largest.
std::optional<RowFold> as_operation(Instruction& update) {
  const bool reorders = llvm::isa<llvm::FPMathOperator>(update) && update.hasAllowReassoc();
  switch (update.getOpcode()) {
    case Instruction::Add:
      return RowFold{.operation = "sum_i", .is_idempotent = false};
    case Instruction::Mul:
      return RowFold{.operation = "product_i", .is_idempotent = false};
    case Instruction::And:
      return RowFold{.operation = "and_i", .is_idempotent = true};
    case Instruction::Or:
      return RowFold{.operation = "or_i", .is_idempotent = true};
    case Instruction::FAdd:
      if (reorders) return RowFold{.operation = "sum_f", .is_idempotent = false};
      return {};
    case Instruction::Call:
      break;
    default:
      return {};
  }
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&update);
  switch (call ? call->getIntrinsicID() : llvm::Intrinsic::not_intrinsic) {
    case llvm::Intrinsic::maxnum:
      return RowFold{.operation = "max_f", .is_idempotent = true};
    case llvm::Intrinsic::minnum:
      return RowFold{.operation = "min_f", .is_idempotent = true};
    case llvm::Intrinsic::smax:
      return RowFold{.operation = "max_i", .is_idempotent = true};
    case llvm::Intrinsic::smin:
      return RowFold{.operation = "min_i", .is_idempotent = true};
    case llvm::Intrinsic::umax:
      return RowFold{.operation = "max_u", .is_idempotent = true};
    case llvm::Intrinsic::umin:
      return RowFold{.operation = "min_u", .is_idempotent = true};
    default:
      return {};
  }
}

std::optional<RowFold> as_fold(PHINode& phi, const llvm::Loop& loop) {
  auto* update = llvm::dyn_cast<Instruction>(phi.getIncomingValueForBlock(loop.getLoopLatch()));
  if (!update || !loop.contains(update) || !phi.hasOneUse() || *phi.user_begin() != update)
    return {};
  // Only the phi needs the result within the loop.
  for (const llvm::User* user : update->users()) {
    const auto* instruction = checked_cast<Instruction>(user);
    if (instruction != &phi && loop.contains(instruction)) return {};
  }
  auto fold = as_operation(*update);
  if (!fold) return {};
  fold->phi = &phi;
  fold->update = update;
  fold->operation += std::to_string(phi.getType()->getScalarSizeInBits());
  return fold;
}

class RowLoopFinder {
 public:
  RowLoopFinder(const llvm::Loop& loop, const ShapeAnalysis& shapes,
                llvm::ScalarEvolution& evolution)
      : loop_(loop),
        block_(*loop.getHeader()),
        shapes_(shapes),
        evolution_(evolution),
        strides_(loop, evolution) {}

  std::optional<RowLoop> find() {
    if (!loop_.isInnermost() || loop_.getNumBlocks() != 1 || !loop_.isLoopSimplifyForm() ||
        !loop_.getExitBlock() || block_.size() > kLongestRowLoop)
      return {};
    RowLoop found;
    found.is_ragged = shapes_.divergent(&loop_);
    for (PHINode& phi : block_.phis()) {
      if (const auto index = as_index(phi, loop_, found.is_ragged, evolution_)) {
        found.indices.push_back(*index);
      } else if (const auto fold = as_fold(phi, loop_)) {
        found.folds.push_back(*fold);
      } else {
        return {};
      }
    }
    // All lanes run their first iteration of a row that is not ragged.
    found.least_iterations =
        found.is_ragged ? kShortestRagged
                        : std::max<uint64_t>(found.folds.empty() ? kShortestRow : kShortestFold,
                                             shapes_.width());
    const bool fits = llvm::all_of(block_, has_lane_form) && keeps_to_itself(found);
    if (!fits || !has_enough(found) || !accesses_rows(found)) return {};
    return found;
  }

 private:
  // Whether the number of iterations can be computed before the loop, and may be large enough.
  bool has_enough(const RowLoop& found) const {
    const unsigned known = evolution_.getSmallConstantTripCount(&loop_);
    return (known == 0 || known >= found.least_iterations) && is_counted(loop_, evolution_);
  }

  // Values pass from lane to lane as scalars. Gangs may assume that all lanes have one quotient,
  // which iterations do not have.
  static bool has_lane_form(const Instruction& instruction) {
    if (instruction.isIntDivRem()) return false;
    const bool is_call = llvm::isa<llvm::CallBase>(instruction);
    return (!is_call || llvm::isa<llvm::IntrinsicInst>(instruction)) &&
           llvm::all_of(instruction.operands(), [](const Value* operand) {
             return llvm::isa<BasicBlock, llvm::Function>(operand) ||
                    operand->getType()->isIntOrPtrTy() || operand->getType()->isFloatingPointTy();
           });
  }

  // Whether other code only needs the results of folds.
  bool keeps_to_itself(const RowLoop& found) const {
    for (const Instruction& instruction : block_) {
      const bool is_result = llvm::any_of(
          found.folds, [&](const RowFold& fold) { return fold.update == &instruction; });
      for (const llvm::User* user : instruction.users()) {
        if (!is_result && !loop_.contains(checked_cast<Instruction>(user))) return false;
      }
    }
    return true;
  }

  // Whether all accesses are to neighbours from one iteration to the next, or always to one place,
  // and lanes do something to rows that are apart.
  bool accesses_rows(const RowLoop& found) {
    bool has_row = false;
    for (Instruction& instruction : block_) {
      if (instruction.isTerminator() || is_speculatable(instruction)) continue;
      Value* address = address_of(instruction);
      if (!address) return false;
      const auto size = static_cast<int64_t>(block_.getModule()->getDataLayout().getTypeStoreSize(
          llvm::getLoadStoreType(&instruction)));
      const auto* step = llvm::dyn_cast_or_null<llvm::SCEVConstant>(strides_.of(address));
      const bool is_store = llvm::isa<llvm::StoreInst>(instruction);
      if (!step || step->getAPInt().getSignificantBits() > 32) return false;
      const int64_t bytes = step->getAPInt().getSExtValue();
      if (bytes != size && (is_store || bytes != 0)) return false;
      const bool is_row = bytes != 0 && shapes_.shape(address).may_be_apart(kWidestStride * size);
      if (is_store && (!is_row || !is_alone(instruction))) return false;
      has_row |= is_row && (is_store || !found.folds.empty());
    }
    return has_row;
  }

  // The address of a plain access to an element of device memory, or of constants: private memory
  // has another place for each lane.
  static Value* address_of(Instruction& instruction) {
    const bool is_plain = llvm::isa<llvm::LoadInst, llvm::StoreInst>(instruction) &&
                          !instruction.isVolatile() && !instruction.isAtomic();
    if (!is_plain || llvm::getLoadStoreType(&instruction)->isVectorTy()) return nullptr;
    auto* address = const_cast<Value*>(llvm::getLoadStorePointerOperand(&instruction));
    return is_device_memory(address) || reads_constants(instruction) ? address : nullptr;
  }

  // Whether what iterations store stays what they read and what they leave behind, if several of
  // them run at once. An element that is read and written in one iteration is no other's.
  bool is_alone(Instruction& store) const {
    auto is_same_element = [&](Instruction& other) {
      return llvm::isa<llvm::LoadInst>(other) &&
             llvm::getLoadStorePointerOperand(&other) == llvm::getLoadStorePointerOperand(&store) &&
             llvm::getLoadStoreType(&other) == llvm::getLoadStoreType(&store);
    };
    return llvm::all_of(block_, [&](Instruction& other) {
      return &other == &store || !other.mayReadOrWriteMemory() || are_separate(store, other) ||
             is_same_element(other);
    });
  }

  const llvm::Loop& loop_;
  BasicBlock& block_;
  const ShapeAnalysis& shapes_;
  llvm::ScalarEvolution& evolution_;
  StrideInLoop strides_;
};

}  // namespace

std::optional<RowLoop> find_row_loop(const llvm::Loop& loop, const ShapeAnalysis& shapes,
                                     llvm::ScalarEvolution& evolution) {
  return RowLoopFinder(loop, shapes, evolution).find();
}

}  // namespace metal::cpu
