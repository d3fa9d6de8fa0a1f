#include "metal/cpu/vectorizer/control/order_iterations.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "metal/compiler/barriers.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/control/commuting_loops.h"
#include "metal/cpu/vectorizer/control/counted_loop.h"
#include "metal/cpu/vectorizer/widen/widen_memory.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::PHINode;
using llvm::Value;

constexpr uint32_t kMostTurns = 1u << 30;

// The same for all threads that run the loop; 0 if that is not known.
uint32_t constant_count(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  const uint32_t count = evolution.getSmallConstantTripCount(&loop);
  return count <= kMostTurns ? count : 0;
}

// A new loop beside a commuting one:
//
//   before:  count of the new loop's iterations; if there are none, the old loop runs
//   turn:    what differs in the iteration; whether the thread runs it
//   copy:    the old loop's blocks
//   end:     the next iteration, or what comes after the loop
class NewLoop {
 public:
  NewLoop(const CommutingLoop& old, llvm::ScalarEvolution& evolution)
      : old_(old),
        context_(old.before->getContext()),
        body_(*old.before->getParent()),
        b_(old.before->getTerminator()),
        numbers_(*old.loop, evolution, b_) {
    for (PHINode& phi : old.loop->getHeader()->phis()) steps_[&phi] = numbers_.step_of(phi);
  }

  llvm::IRBuilder<>& builder() { return b_; }
  LoopNumbers& numbers() { return numbers_; }
  Value* step_of(PHINode& phi) { return steps_[&phi]; }

  // Returns the number of the new loop's iteration. The builder then is in `turn`.
  Value* begin(Value* count) {
    count_ = count;
    turn_ = BasicBlock::Create(context_, "turn", &body_, old_.after);
    end_ = BasicBlock::Create(context_, "turn.end", &body_, old_.after);
    BasicBlock* rest = llvm::SplitBlock(old_.before, old_.before->getTerminator());
    b_.SetInsertPoint(old_.before->getTerminator());
    b_.CreateCondBr(b_.CreateICmpNE(count, b_.getInt32(0)), turn_, rest);
    old_.before->getTerminator()->eraseFromParent();
    b_.SetInsertPoint(turn_);
    number_ = b_.CreatePHI(b_.getInt32Ty(), 2, "turn.number");
    number_->addIncoming(b_.getInt32(0), old_.before);
    return number_;
  }

  // Copies the old loop's blocks, with `values` instead of what they use, for threads with `runs`.
  // The builder then is in `end`.
  void copy(llvm::ValueToValueMapTy& values, Value* runs) {
    const llvm::SmallVector<BasicBlock*> blocks(old_.loop->blocks());
    llvm::SmallVector<BasicBlock*> copies;
    llvm::SmallMapVector<const PHINode*, Value*, 4> starts;
    for (PHINode& phi : old_.loop->getHeader()->phis()) starts[&phi] = values[&phi];
    for (BasicBlock* block : blocks) {
      BasicBlock* copy = llvm::CloneBasicBlock(block, values, "", &body_);
      copy->moveBefore(end_);
      values[block] = copy;
      copies.push_back(copy);
    }
    for (const auto& [phi, value] : starts) {
      checked_cast<Instruction>(static_cast<Value*>(values[phi]))->eraseFromParent();
      values[phi] = value;
    }
    llvm::remapInstructionsInBlocks(copies, values);
    auto copy_of = [&](BasicBlock* block) {
      return checked_cast<BasicBlock>(static_cast<Value*>(values[block]));
    };
    llvm::ReplaceInstWithInst(copy_of(old_.loop->getLoopLatch())->getTerminator(),
                              llvm::BranchInst::Create(end_));
    b_.CreateCondBr(runs, copy_of(old_.loop->getHeader()), end_);
    b_.SetInsertPoint(end_);
  }

  void finish() {
    Value* next = b_.CreateNUWAdd(number_, b_.getInt32(1));
    number_->addIncoming(next, end_);
    b_.CreateCondBr(b_.CreateICmpULT(next, count_), turn_, old_.after);
  }

  BasicBlock* first_block() const { return turn_; }

 private:
  const CommutingLoop& old_;
  llvm::LLVMContext& context_;
  llvm::Function& body_;
  llvm::IRBuilder<> b_;
  LoopNumbers numbers_;
  llvm::SmallMapVector<PHINode*, Value*, 4> steps_;
  Value* count_ = nullptr;
  PHINode* number_ = nullptr;
  BasicBlock *turn_ = nullptr, *end_ = nullptr;
};

Value* start_of(const PHINode& phi, const CommutingLoop& commuting) {
  return phi.getIncomingValueForBlock(commuting.loop->getLoopPreheader());
}

Value* enters(llvm::IRBuilder<>& b, const CommutingLoop& commuting, Value* guard) {
  if (!guard) return b.getTrue();
  return commuting.enters_if ? guard : b.CreateNot(guard);
}

// Lets gangs take turns. Returns the new loop's header; null if nothing has changed.
BasicBlock* take_turns(const CommutingLoop& commuting, llvm::ScalarEvolution& evolution) {
  const uint32_t constant = constant_count(*commuting.loop, evolution);
  std::optional<CountedLoop> counted;
  if (constant == 0) {
    counted = find_counted_loop(*commuting.loop, evolution, Threads::OfThreadgroup);
    if (!counted) return nullptr;
  }
  NewLoop loop(commuting, evolution);
  llvm::IRBuilder<>& b = loop.builder();
  Value* count = b.getInt32(constant);
  if (counted) {
    Value* first = loop.numbers().first_start(*counted);
    count = count_iterations(b, *counted, first, loop.step_of(*counted->number),
                             commuting.before->getParent()->getArg(kGroupArgument));
  }
  Value* turn = loop.begin(count);
  llvm::ValueToValueMapTy values;
  for (PHINode& phi : commuting.loop->getHeader()->phis())
    values[&phi] = loop.numbers().in_iteration(phi, start_of(phi, commuting), loop.step_of(phi),
                                               turn, counted ? &*counted : nullptr);
  Value* runs = enters(b, commuting, commuting.guard);
  if (counted) {
    PHINode& number = *counted->number;
    runs =
        b.CreateAnd(runs, runs_iteration(b, *counted, values[&number], loop.step_of(number), turn));
  }
  loop.copy(values, runs);
  compiler::create_threadgroup_barrier(b);
  loop.finish();
  return loop.first_block();
}

// Computes for another thread of the gang what a thread computes before a loop.
class OtherThread {
 public:
  OtherThread(llvm::Function& body, const llvm::Loop& loop) : body_(body), loop_(loop) {}

  // Whether values before the loop can be computed again: from the thread's place, and from what is
  // the same for all threads of a row. All threads have computed them, so nothing traps.
  bool can_compute(const Value* value) {
    if (llvm::isa<llvm::Constant>(value) || is_same(Threads::OfRow, *value)) return true;
    if (const auto* argument = llvm::dyn_cast<llvm::Argument>(value))
      return argument->getArgNo() != kActiveArgument;
    const auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (!instruction || loop_.contains(instruction)) return false;
    const auto [known, is_new] = computable_.try_emplace(instruction, false);
    if (!is_new) return known->second;
    const bool is_computed =
        llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::CmpInst, llvm::SelectInst,
                  llvm::GetElementPtrInst, llvm::FreezeInst>(instruction) &&
        llvm::all_of(instruction->operands(), [&](const Value* one) { return can_compute(one); });
    return computable_[instruction] = is_computed;
  }

  // `thread`: its number in the gang.
  void set(llvm::IRBuilder<>& b, Value* thread) {
    Value* lane = body_.getArg(kLaneArgument);
    for (const unsigned place : {kXArgument, kIndexArgument})
      values_[body_.getArg(place)] = b.CreateAdd(b.CreateSub(body_.getArg(place), lane), thread);
    values_[lane] = thread;
  }

  Value* compute(llvm::IRBuilder<>& b, Value* value) {
    if (const auto known = values_.find(value); known != values_.end()) return known->second;
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (!instruction || is_same(Threads::OfRow, *value)) return value;
    Instruction* copy = instruction->clone();
    for (llvm::Use& operand : copy->operands()) operand.set(compute(b, operand));
    return values_[value] = b.Insert(copy, instruction->getName());
  }

 private:
  llvm::Function& body_;
  const llvm::Loop& loop_;
  llvm::DenseMap<const Instruction*, bool> computable_;
  llvm::DenseMap<Value*, Value*> values_;
};

// What the loop's blocks use from before it.
llvm::SmallSetVector<Value*, 8> inputs_of(const llvm::Loop& loop) {
  llvm::SmallSetVector<Value*, 8> inputs;
  for (BasicBlock* block : loop.blocks()) {
    for (Instruction& instruction : *block) {
      for (Value* operand : instruction.operands()) {
        const auto* inside = llvm::dyn_cast<Instruction>(operand);
        if (llvm::isa<llvm::Argument>(operand) || (inside && !loop.contains(inside)))
          inputs.insert(operand);
      }
    }
  }
  return inputs;
}

bool steps_are_same(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  return llvm::all_of(loop.getHeader()->phis(), [&](PHINode& phi) {
    const auto* recurrence = recurrence_of(phi, loop, evolution);
    return is_same(Threads::OfRow, *recurrence->getStepRecurrence(evolution));
  });
}

// A thread's own operations change places: additions commute, but not with maxima, say.
bool has_one_operation(const llvm::Loop& loop) {
  std::optional<llvm::AtomicRMWInst::BinOp> known;
  for (BasicBlock* block : loop.blocks()) {
    for (Instruction& instruction : *block) {
      if (!commutes(instruction)) continue;
      const auto operation = checked_cast<llvm::AtomicRMWInst>(&instruction)->getOperation();
      if (known && *known != operation) return false;
      known = operation;
    }
  }
  return true;
}

// Lets the lanes of a gang share the iterations of each of its threads. Returns the new loop's
// header; null if nothing has changed.
BasicBlock* share_iterations(const CommutingLoop& commuting, llvm::ScalarEvolution& evolution,
                             const BodyShapes& shapes) {
  const uint32_t count = constant_count(*commuting.loop, evolution), width = shapes.width;
  if (count == 0 || count % width != 0 || !shapes.arguments[kActiveArgument].is_uniform() ||
      !has_one_operation(*commuting.loop))
    return nullptr;
  llvm::Function& body = *commuting.before->getParent();
  OtherThread other(body, *commuting.loop);
  const auto inputs = inputs_of(*commuting.loop);
  if (!llvm::all_of(inputs, [&](Value* value) { return other.can_compute(value); }) ||
      (commuting.guard && !other.can_compute(commuting.guard)) ||
      !steps_are_same(*commuting.loop, evolution))
    return nullptr;
  // A turn runs one iteration on each lane, and the gang has as many threads as lanes: so there are
  // as many turns as a thread has iterations.
  NewLoop loop(commuting, evolution);
  llvm::IRBuilder<>& b = loop.builder();
  Value* turn = loop.begin(b.getInt32(count));
  Value* turns_of_thread = b.getInt32(count / width);
  other.set(b, b.CreateUDiv(turn, turns_of_thread));
  Value* first = b.CreateMul(b.CreateURem(turn, turns_of_thread), b.getInt32(width));
  Value* iteration = b.CreateAdd(first, body.getArg(kLaneArgument));
  llvm::ValueToValueMapTy values;
  for (Value* input : inputs) values[input] = other.compute(b, input);
  for (PHINode& phi : commuting.loop->getHeader()->phis()) {
    Value* start = other.compute(b, start_of(phi, commuting));
    values[&phi] = loop.numbers().in_iteration(phi, start, loop.step_of(phi), iteration);
  }
  Value* guard = commuting.guard ? other.compute(b, commuting.guard) : nullptr;
  loop.copy(values, enters(b, commuting, guard));
  loop.finish();
  return loop.first_block();
}

}  // namespace

bool order_iterations(llvm::Function& body, const BodyShapes& shapes,
                      llvm::FunctionAnalysisManager& analyses) {
  if (llvm::none_of(llvm::instructions(body), commutes)) return false;
  llvm::FunctionPassManager simplify;
  simplify.addPass(llvm::LoopSimplifyPass());
  analyses.clear();
  simplify.run(body, analyses);
  llvm::SmallPtrSet<BasicBlock*, 8> done;
  bool any = false;
  for (bool changed = true; changed;) {
    changed = false;
    analyses.clear();
    auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(body);
    for (const CommutingLoop& commuting : find_commuting_loops(body, analyses, done)) {
      done.insert(commuting.loop->getHeader());
      BasicBlock* header = nullptr;
      switch (best_order(commuting, evolution, shapes.width)) {
        case IterationOrder::AsWritten:
          break;
        case IterationOrder::GangByGang:
          header = take_turns(commuting, evolution);
          break;
        case IterationOrder::LaneByLane:
          header = share_iterations(commuting, evolution, shapes);
          break;
      }
      if (!header) continue;
      done.insert(header);
      any = changed = true;
      break;  // the analyses are those of the code before
    }
  }
  return any;
}

}  // namespace metal::cpu
