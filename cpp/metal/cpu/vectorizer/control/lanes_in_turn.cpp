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
  TurnFinder(const ShapeAnalysis& shapes, llvm::ScalarEvolution& evolution)
      : shapes_(shapes), evolution_(evolution) {}

  // The iterations of a lane, in the mean, from which on turns pay. Nothing if they never do.
  std::optional<uint64_t> least_iterations(const llvm::Loop& loop) {
    if (!loop.isInnermost() || loop.getNumBlocks() != 1 || !loop.isLoopSimplifyForm() ||
        !loop.getExitBlock() || !shapes_.divergent(&loop))
      return {};
    unsigned instructions = 0, apart = 0;
    for (const Instruction& instruction : *loop.getHeader()) {
      if (!has_scalar_form(instruction, loop)) return {};
      const unsigned elements = elements_of(*instruction.getType());
      instructions += is_free(instruction) ? 0 : elements;
      apart += is_apart(instruction) ? elements : 0;
    }
    if (instructions > kInstructionsForAccess * apart || !is_counted(loop, evolution_)) return {};
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
  llvm::ScalarEvolution& evolution_;
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
      : place_(place),
        least_iterations_(least_iterations),
        count_(count),
        lane_(lane),
        width_(shapes.width()),
        values_(*place.body, shapes),
        b_(count.getContext()) {
    values_.add(count);
    for (Instruction& instruction : *place.body) {
      const bool is_used_behind = llvm::any_of(instruction.users(), [&](const llvm::User* user) {
        return !loop.contains(checked_cast<Instruction>(user));
      });
      if (is_used_behind) outputs_.push_back(&instruction);
    }
  }

  void run() {
    BasicBlock* alone = llvm::SplitBlock(place_.before, place_.before->getTerminator());
    auto new_block = [&](const char* name) {
      return BasicBlock::Create(b_.getContext(), name, alone->getParent(), alone);
    };
    BasicBlock *lanes = new_block("lanes"), *turn = new_block("turn");
    BasicBlock *end = new_block("turn.end"), *done = new_block("lanes.end");
    place_.before->getTerminator()->eraseFromParent();
    b_.SetInsertPoint(place_.before);
    b_.CreateCondBr(have_in_the_mean(b_, count_, least_iterations_, width_), lanes, alone);
    PHINode* number = start_lane(*lanes, *turn, *end);
    run_loop(*lanes, *turn, *end);
    keep_results(*lanes, *turn, *end, *number);
    Value* next = b_.CreateAdd(number, b_.getInt32(1));
    number->addIncoming(next, end);
    b_.CreateCondBr(b_.CreateICmpULT(next, b_.getInt32(width_)), lanes, done);
    b_.SetInsertPoint(done);
    llvm::ValueToValueMapTy results;
    for (const auto& [output, kept] : llvm::zip_equal(outputs_, kept_))
      results[output] = kept->getIncomingValueForBlock(end);
    leave_rows(b_, place_, *alone, results);
  }

 private:
  PHINode* start_lane(BasicBlock& lanes, BasicBlock& turn, BasicBlock& end) {
    b_.SetInsertPoint(&lanes);
    PHINode* number = b_.CreatePHI(b_.getInt32Ty(), 2, "number");
    number->addIncoming(b_.getInt32(0), place_.before);
    for (const Instruction* output : outputs_) {
      kept_.push_back(b_.CreatePHI(output->getType(), 2));
      kept_.back()->addIncoming(llvm::Constant::getNullValue(output->getType()), place_.before);
    }
    values_.read(b_, number);
    b_.CreateCondBr(b_.CreateIsNotNull(values_.of(&count_)), &turn, &end);
    return number;
  }

  void run_loop(BasicBlock& lanes, BasicBlock& turn, BasicBlock& end) {
    values_.add_to(copies_);
    copies_[place_.body] = &turn;
    copies_[place_.exit] = &end;
    b_.SetInsertPoint(&turn);
    for (Instruction& instruction : *place_.body) {
      Instruction* copy = b_.Insert(instruction.clone(), instruction.getName());
      copies_[&instruction] = copy;
    }
    for (Instruction& copy : turn) {
      if (auto* phi = llvm::dyn_cast<PHINode>(&copy)) {
        const unsigned from_loop = phi->getIncomingBlock(0) == place_.body ? 0 : 1;
        phi->setIncomingBlock(1 - from_loop, &lanes);
      }
      llvm::RemapInstruction(&copy, copies_,
                             llvm::RF_IgnoreMissingLocals | llvm::RF_NoModuleLevelChanges);
    }
  }

  void keep_results(BasicBlock& lanes, BasicBlock& turn, BasicBlock& end, Value& number) {
    b_.SetInsertPoint(&end);
    llvm::SmallVector<PHINode*, 1> results;
    for (const Instruction* output : outputs_) {
      results.push_back(b_.CreatePHI(output->getType(), 2));
      results.back()->addIncoming(llvm::Constant::getNullValue(output->getType()), &lanes);
      results.back()->addIncoming(copies_[output], &turn);
    }
    Value* is_own = b_.CreateICmpEQ(&lane_, &number);
    for (const auto& [kept, result] : llvm::zip_equal(kept_, results))
      kept->addIncoming(b_.CreateSelect(is_own, result, kept), &end);
  }

  RowLoopPlace place_;
  uint64_t least_iterations_;
  Value &count_, &lane_;
  unsigned width_;
  ValuesOfRow values_;
  llvm::SmallVector<Instruction*, 1> outputs_;  // of the loop
  llvm::SmallVector<PHINode*, 1> kept_;         // each lane's, so far
  llvm::ValueToValueMapTy copies_;
  llvm::IRBuilder<> b_;
};

}  // namespace

bool run_lanes_in_turn(llvm::Function& body, const BodyShapes& shapes, llvm::Argument& lane,
                       llvm::FunctionAnalysisManager& analyses) {
  const LoopsOfLanes all(body, shapes, analyses);
  TurnFinder finder(all.shapes(), all.evolution());
  std::list<LanesInTurn> found;
  for (const llvm::Loop* loop : all.loops().getLoopsInPreorder()) {
    const auto least = finder.least_iterations(*loop);
    if (!least) continue;
    const RowLoopPlace place = find_place(*loop, /*guarded=*/true);
    Value* count = count_of(*loop, place, all.evolution());
    found.emplace_back(*loop, place, all.shapes(), *count, *least, lane);
  }
  for (LanesInTurn& loop : found) loop.run();
  analyses.clear();
  return !found.empty();
}

}  // namespace metal::cpu
