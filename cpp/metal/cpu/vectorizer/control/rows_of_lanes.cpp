#include "metal/cpu/vectorizer/control/rows_of_lanes.h"

#include <limits>
#include <string>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/kernel_form.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/control/marker_calls.h"
#include "metal/cpu/vectorizer/speculation.h"

namespace metal::cpu {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::PHINode;
using llvm::Value;

namespace {

llvm::LoopInfo& simplified_loops(llvm::Function& body, llvm::FunctionAnalysisManager& analyses) {
  llvm::FunctionPassManager simplify;
  simplify.addPass(llvm::LoopSimplifyPass());
  simplify.addPass(llvm::LCSSAPass());
  analyses.clear();
  simplify.run(body, analyses);
  return analyses.getResult<llvm::LoopAnalysis>(body);
}

}  // namespace

LoopsOfLanes::LoopsOfLanes(llvm::Function& body, const BodyShapes& shapes,
                           llvm::FunctionAnalysisManager& analyses)
    : loops_(simplified_loops(body, analyses)),
      evolution_(analyses.getResult<llvm::ScalarEvolutionAnalysis>(body)),
      post_dominators_(body),
      shapes_(body, shapes, post_dominators_, loops_) {}

RowLoopPlace find_place(const llvm::Loop& loop, bool guarded) {
  BasicBlock *preheader = loop.getLoopPreheader(), *exit = loop.getExitBlock();
  const RowLoopPlace unguarded{.before = preheader,
                               .runs = nullptr,
                               .last = loop.getExitingBlock(),
                               .exit = exit,
                               .after = exit};
  BasicBlock *guard = preheader->getSinglePredecessor(), *after = exit->getSingleSuccessor();
  const auto* branch = guard ? llvm::dyn_cast<llvm::BranchInst>(guard->getTerminator()) : nullptr;
  if (!guarded || !branch || !branch->isConditional() || !after) return unguarded;
  const bool runs_if_true = branch->getSuccessor(0) == preheader;
  const bool is_only_guard = branch->getSuccessor(runs_if_true ? 1 : 0) == after &&
                             exit->getSinglePredecessor() &&
                             exit->getFirstNonPHI() == exit->getTerminator();
  const bool is_speculative = llvm::all_of(*preheader, [](const Instruction& instruction) {
    return instruction.isTerminator() ||
           (!llvm::isa<PHINode>(instruction) && is_speculatable(instruction));
  });
  if (!is_only_guard || !is_speculative) return unguarded;
  while (&preheader->front() != preheader->getTerminator()) {
    Instruction& instruction = preheader->front();
    instruction.moveBefore(guard->getTerminator());
    forget_guards(instruction);
  }
  llvm::IRBuilder<> b(guard->getTerminator());
  Value* condition = branch->getCondition();
  return {.before = guard,
          .runs = runs_if_true ? condition : b.CreateNot(condition),
          .last = loop.getExitingBlock(),
          .exit = exit,
          .after = after};
}

bool is_counted(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  const llvm::SCEV* repeats = evolution.getBackedgeTakenCount(&loop);
  if (llvm::isa<llvm::SCEVCouldNotCompute>(repeats)) return false;
  const Instruction* end = loop.getLoopPreheader()->getTerminator();
  const llvm::SCEVExpander expander(evolution, end->getModule()->getDataLayout(), "count");
  return expander.isSafeToExpandAt(repeats, end);
}

Value* count_of(const llvm::Loop& loop, const RowLoopPlace& place,
                llvm::ScalarEvolution& evolution) {
  Instruction* end = place.before->getTerminator();
  llvm::SCEVExpander expander(evolution, end->getModule()->getDataLayout(), "count");
  const llvm::SCEV* repeats = evolution.getBackedgeTakenCount(&loop);
  llvm::IRBuilder<> b(end);
  Value* count =
      b.CreateZExt(expander.expandCodeFor(repeats, repeats->getType(), end), b.getInt64Ty());
  count = b.CreateAdd(count, b.getInt64(1));
  return place.runs ? b.CreateSelect(place.runs, count, b.getInt64(0)) : count;
}

namespace {

// How far the number that ends the loop is from its bound, in steps. LLVM does not know whether
// pointers wrap around, so it does not count loops that move a pointer until it reaches an end.
const llvm::SCEV* steps_to_bound(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(loop.getExitingBlock()->getTerminator());
  const auto* test = branch && branch->isConditional()
                         ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition())
                         : nullptr;
  if (!test) return nullptr;
  for (unsigned i = 0; i < 2; ++i) {
    const auto* number =
        llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(test->getOperand(i)));
    const llvm::SCEV* bound = evolution.getSCEV(test->getOperand(1 - i));
    const auto* step =
        number && number->getLoop() == &loop && number->isAffine()
            ? llvm::dyn_cast<llvm::SCEVConstant>(number->getStepRecurrence(evolution))
            : nullptr;
    if (!step || !step->getAPInt().isStrictlyPositive() || !evolution.isLoopInvariant(bound, &loop))
      continue;
    const llvm::SCEV* distance = evolution.getMinusSCEV(bound, number->getStart());
    if (llvm::isa<llvm::SCEVCouldNotCompute>(distance)) continue;
    return evolution.getUDivExpr(
        evolution.getSMaxExpr(distance, evolution.getZero(distance->getType())), step);
  }
  return nullptr;
}

}  // namespace

Value* estimate_of(const llvm::Loop& loop, const RowLoopPlace& place,
                   llvm::ScalarEvolution& evolution) {
  if (is_counted(loop, evolution)) return count_of(loop, place, evolution);
  const llvm::SCEV* steps = steps_to_bound(loop, evolution);
  Instruction* end = place.before->getTerminator();
  llvm::SCEVExpander expander(evolution, end->getModule()->getDataLayout(), "count");
  if (!steps || !expander.isSafeToExpandAt(steps, end)) return nullptr;
  llvm::IRBuilder<> b(end);
  Value* count = b.CreateBinaryIntrinsic(
      llvm::Intrinsic::umax,
      b.CreateZExt(expander.expandCodeFor(steps, steps->getType(), end), b.getInt64Ty()),
      b.getInt64(1));
  return place.runs ? b.CreateSelect(place.runs, count, b.getInt64(0)) : count;
}

Value* have_in_the_mean(llvm::IRBuilder<>& b, Value& count, uint64_t iterations, unsigned width) {
  const auto in_all =
      declare_marker(*b.GetInsertBlock()->getModule(), kAllLanes, b.getInt1Ty(), true);
  // Then their sum does not wrap around.
  Value* fits = b.CreateICmpULE(&count, b.getInt64(std::numeric_limits<int32_t>::max()));
  Value* all_fit = b.CreateCall(in_all, {fits});
  Value* all_run = call_lanes(b, kAllRun, b.getInt1Ty(), {});
  Value* sum = call_lanes(b, compiler::kRuntimePrefix + llvm::Twine("simd_sum_i64"), b.getInt64Ty(),
                          {&count});
  Value* enough = b.CreateICmpUGE(sum, b.getInt64(iterations * width));
  return b.CreateAnd(b.CreateAnd(all_run, all_fit), enough);
}

llvm::CallInst* call_lanes(llvm::IRBuilder<>& b, const llvm::Twine& name, llvm::Type* result,
                           llvm::ArrayRef<Value*> operands) {
  llvm::SmallVector<llvm::Type*, 2> types;
  for (const Value* operand : operands) types.push_back(operand->getType());
  llvm::FunctionCallee callee = b.GetInsertBlock()->getModule()->getOrInsertFunction(
      name.str(), llvm::FunctionType::get(result, types, false));
  auto* function = checked_cast<llvm::Function>(callee.getCallee());
  function->setConvergent();
  function->setDoesNotThrow();
  function->setWillReturn();
  function->setDoesNotAccessMemory();
  return b.CreateCall(callee, operands);
}

ValuesOfRow::ValuesOfRow(const llvm::Loop& loop, const ShapeAnalysis& shapes) {
  for (const BasicBlock* block : loop.blocks()) {
    for (const Instruction& instruction : *block) {
      for (Value* operand : instruction.operands()) {
        const bool is_outside =
            llvm::isa<Instruction, llvm::Argument>(operand) && loop.isLoopInvariant(operand);
        if (is_outside && !shapes.shape(operand).is_uniform()) add(*operand);
      }
    }
  }
}

void ValuesOfRow::read(llvm::IRBuilder<>& b, Value* row) {
  for (auto& [value, of_row] : of_row_) {
    std::string name;
    llvm::raw_string_ostream(name)
        << compiler::kRuntimePrefix << "simd_shuffle_" << *value->getType();
    of_row = call_lanes(b, name, value->getType(), {value, row});
  }
}

Value* ValuesOfRow::of(Value* value) const {
  const auto found = of_row_.find(value);
  return found == of_row_.end() ? value : found->second;
}

void ValuesOfRow::add_to(llvm::ValueToValueMapTy& values) const {
  for (const auto& [value, of_row] : of_row_) values[value] = of_row;
}

void leave_rows(llvm::IRBuilder<>& b, const RowLoopPlace& place, BasicBlock& alone,
                const llvm::ValueToValueMapTy& results) {
  BasicBlock* last = b.GetInsertBlock();
  auto result_of = [&](Value* value) -> Value* {
    Value* found = results.lookup(value);
    return found ? found : value;
  };
  for (PHINode& phi : place.after->phis()) {
    if (!place.runs) {
      phi.addIncoming(result_of(phi.getIncomingValueForBlock(place.last)), last);
      continue;
    }
    Value* value = phi.getIncomingValueForBlock(place.exit);
    const auto* of_exit = llvm::dyn_cast<PHINode>(value);
    if (of_exit && of_exit->getParent() == place.exit)
      value = of_exit->getIncomingValueForBlock(place.last);
    Value* otherwise = phi.getIncomingValueForBlock(&alone);
    phi.addIncoming(b.CreateSelect(place.runs, result_of(value), otherwise), last);
  }
  b.CreateBr(place.after);
}

}  // namespace metal::cpu
