#include "metal/cpu/vectorizer/control/lanes_in_turn.h"

#include <algorithm>
#include <list>
#include <optional>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/vectorizer/control/rows_of_lanes.h"
#include "metal/cpu/vectorizer/memory/buffers.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::PHINode;
using llvm::Value;

// Iterations of a lane in the mean, for one access in which lanes are apart; a fourth of it for
// two, and so on. It takes time to turn to the next lane, and each access is faster in turn.
constexpr uint64_t kShortestTurn = 64;
// Instructions of an iteration for each access in which lanes are apart. A gang takes about as many
// for one lane's part of such an access, also for lanes whose loops have ended.
constexpr unsigned kInstructionsForAccess = 4;

unsigned elements_of(const llvm::Type& type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(&type);
  return vector ? vector->getNumElements() : 1;
}

// Whether it becomes a part of another instruction, or none.
bool is_free(const Instruction& instruction) {
  return instruction.isTerminator() ||
         llvm::isa<PHINode, llvm::GetElementPtrInst, llvm::CastInst, llvm::ExtractElementInst,
                   llvm::InsertElementInst, llvm::ShuffleVectorInst>(instruction);
}

class TurnFinder {
 public:
  explicit TurnFinder(const ShapeAnalysis& shapes) : shapes_(shapes) {}

  // The iterations of a lane, in the mean, from which on turns pay. Nothing if they never do.
  std::optional<uint64_t> least_iterations(const llvm::Loop& loop) {
    if (!loop.isInnermost() || !loop.isLoopSimplifyForm() || !loop.getExitingBlock() ||
        !loop.getExitBlock() || !shapes_.divergent(&loop))
      return {};
    unsigned instructions = 0, apart = 0;
    for (const BasicBlock* block : loop.blocks()) {
      for (const Instruction& instruction : *block) {
        if (!has_scalar_form(instruction, loop)) return {};
        const unsigned elements = elements_of(*instruction.getType());
        instructions += is_free(instruction) ? 0 : elements;
        apart += is_apart(instruction) ? elements : 0;
      }
    }
    if (apart == 0 || instructions > kInstructionsForAccess * apart) return {};
    return std::max<uint64_t>(kShortestTurn / (uint64_t{apart} * apart), 1);
  }

 private:
  // Gangs may assume that all lanes have one quotient, which those of a turn do not have. Values
  // from outside pass from lane to lane as scalars. Private memory has another place for each lane.
  bool has_scalar_form(const Instruction& instruction, const llvm::Loop& loop) const {
    const auto is_scalar = [&](Value* value) {
      llvm::Type* type = value->getType();
      return llvm::isa<BasicBlock, llvm::Function>(value) || type->isIntOrPtrTy() ||
             type->isFloatingPointTy() ||
             (type->isVectorTy() &&
              (!loop.isLoopInvariant(value) || shapes_.shape(value).is_uniform()));
    };
    if (instruction.isIntDivRem() || !llvm::all_of(instruction.operands(), is_scalar)) return false;
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
      return llvm::isa<llvm::IntrinsicInst>(call) && !call->mayReadOrWriteMemory();
    if (!instruction.mayReadOrWriteMemory()) return true;
    const Value* address = llvm::getLoadStorePointerOperand(&instruction);
    return address && !instruction.isAtomic() && !instruction.isVolatile() &&
           (is_device_memory(address) || reads_constants(instruction));
  }

  // Where lanes are is not known. Otherwise vector code reads whole pieces of memory for them.
  bool is_apart(const Instruction& instruction) const {
    const Value* address = llvm::getLoadStorePointerOperand(&instruction);
    if (!address) return false;
    const Shape shape = shapes_.shape(address);
    return shape.is_varying() && !shape.is_strided();
  }

  const ShapeAnalysis& shapes_;
};

// Puts this in front of the loop, or of its guard:
//
//   for each lane, if all lanes run and have enough to do:   lanes
//     run its loop                                           turn
//     keep the results for this lane                         turn.end
class LanesInTurn {
 public:
  LanesInTurn(const llvm::Loop& loop, const RowLoopPlace& place, const ShapeAnalysis& shapes,
              Value& count, uint64_t least_iterations, Value& lane)
      : loop_(loop),
        place_(place),
        least_iterations_(least_iterations),
        count_(count),
        lane_(lane),
        width_(shapes.width()),
        values_(loop, shapes),
        b_(count.getContext()) {
    values_.add(count);
    for (BasicBlock* block : loop.blocks()) {
      for (Instruction& instruction : *block) {
        const bool is_used_behind = llvm::any_of(instruction.users(), [&](const llvm::User* user) {
          return !loop.contains(checked_cast<Instruction>(user));
        });
        if (is_used_behind) outputs_.push_back(&instruction);
      }
    }
  }

  void run() {
    BasicBlock* alone = llvm::SplitBlock(place_.before, place_.before->getTerminator());
    auto new_block = [&](const llvm::Twine& name) {
      return BasicBlock::Create(b_.getContext(), name, alone->getParent(), alone);
    };
    lanes_ = new_block("lanes");
    for (const BasicBlock* block : loop_.blocks()) copies_[block] = new_block("turn");
    end_ = new_block("turn.end");
    BasicBlock* done = new_block("lanes.end");
    place_.before->getTerminator()->eraseFromParent();
    b_.SetInsertPoint(place_.before);
    b_.CreateCondBr(have_in_the_mean(b_, count_, least_iterations_, width_), lanes_, alone);
    start_lane();
    run_loop();
    keep_results();
    Value* next = b_.CreateAdd(number_, b_.getInt32(1));
    number_->addIncoming(next, end_);
    b_.CreateCondBr(b_.CreateICmpULT(next, b_.getInt32(width_)), lanes_, done);
    b_.SetInsertPoint(done);
    llvm::ValueToValueMapTy results;
    for (const auto& [output, kept] : llvm::zip_equal(outputs_, kept_))
      results[output] = kept->getIncomingValueForBlock(end_);
    leave_rows(b_, place_, *alone, results);
  }

 private:
  BasicBlock* copy_of(const BasicBlock* block) {
    return checked_cast<BasicBlock>(&*copies_[block]);
  }

  void start_lane() {
    b_.SetInsertPoint(lanes_);
    number_ = b_.CreatePHI(b_.getInt32Ty(), 2, "number");
    number_->addIncoming(b_.getInt32(0), place_.before);
    for (const Instruction* output : outputs_) {
      kept_.push_back(b_.CreatePHI(output->getType(), 2));
      kept_.back()->addIncoming(llvm::Constant::getNullValue(output->getType()), place_.before);
    }
    values_.read(b_, number_);
    Value* runs = b_.CreateIsNotNull(values_.of(&count_));
    b_.CreateCondBr(runs, copy_of(loop_.getHeader()), end_);
  }

  void run_loop() {
    values_.add_to(copies_);
    copies_[loop_.getLoopPreheader()] = lanes_;
    copies_[place_.exit] = end_;
    for (const BasicBlock* block : loop_.blocks()) {
      b_.SetInsertPoint(copy_of(block));
      for (const Instruction& instruction : *block)
        copies_[&instruction] = b_.Insert(instruction.clone(), instruction.getName());
    }
    for (const BasicBlock* block : loop_.blocks()) {
      for (Instruction& copy : *copy_of(block))
        llvm::RemapInstruction(&copy, copies_,
                               llvm::RF_IgnoreMissingLocals | llvm::RF_NoModuleLevelChanges);
    }
  }

  void keep_results() {
    b_.SetInsertPoint(end_);
    llvm::SmallVector<PHINode*, 1> results;
    for (const Instruction* output : outputs_) {
      results.push_back(b_.CreatePHI(output->getType(), 2));
      results.back()->addIncoming(llvm::Constant::getNullValue(output->getType()), lanes_);
      results.back()->addIncoming(copies_[output], copy_of(place_.last));
    }
    Value* is_own = b_.CreateICmpEQ(&lane_, number_);
    for (const auto& [kept, result] : llvm::zip_equal(kept_, results))
      kept->addIncoming(b_.CreateSelect(is_own, result, kept), end_);
  }

  const llvm::Loop& loop_;
  RowLoopPlace place_;
  uint64_t least_iterations_;
  Value &count_, &lane_;
  unsigned width_;
  ValuesOfRow values_;
  llvm::SmallVector<Instruction*, 1> outputs_;  // of the loop
  llvm::SmallVector<PHINode*, 1> kept_;         // each lane's, so far
  llvm::ValueToValueMapTy copies_;              // of the loop's blocks and instructions
  llvm::IRBuilder<> b_;
  BasicBlock *lanes_ = nullptr, *end_ = nullptr;
  PHINode* number_ = nullptr;  // of the lane whose turn it is
};

}  // namespace

bool run_lanes_in_turn(llvm::Function& body, const BodyShapes& shapes, llvm::Argument& lane,
                       llvm::FunctionAnalysisManager& analyses) {
  const LoopsOfLanes all(body, shapes, analyses);
  TurnFinder finder(all.shapes());
  std::list<LanesInTurn> found;
  for (const llvm::Loop* loop : all.loops().getLoopsInPreorder()) {
    const auto least = finder.least_iterations(*loop);
    if (!least) continue;
    const RowLoopPlace place = find_place(*loop, /*guarded=*/true);
    Value* count = estimate_of(*loop, place, all.evolution());
    if (!count) continue;
    found.emplace_back(*loop, place, all.shapes(), *count, *least, lane);
  }
  for (LanesInTurn& loop : found) loop.run();
  analyses.clear();
  return !found.empty();
}

}  // namespace metal::cpu
