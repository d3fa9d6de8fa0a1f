#include "metal/cpu/vectorizer/control/commuting_loops.h"

#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/cache_line.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/control/counted_loop.h"
#include "metal/cpu/vectorizer/memory/buffers.h"
#include "metal/cpu/vectorizer/memory/separate_memory.h"
#include "metal/cpu/vectorizer/prefetch/stride_in_loop.h"
#include "metal/cpu/vectorizer/speculation.h"
#include "metal/cpu/vectorizer/widen/widen_memory.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Loop;
using llvm::SCEV;

template <typename Test>
bool any_in(const Loop& loop, Test test) {
  return llvm::any_of(loop.blocks(), [&](BasicBlock* block) { return llvm::any_of(*block, test); });
}

// What a thread reads must not depend on what others have done by then.
bool runs_at_any_time(const Instruction& instruction) {
  if (commutes(instruction)) return true;
  if (!can_take_turns(instruction)) return false;
  return !instruction.mayReadOrWriteMemory() || reads_constants(instruction) ||
         reads_unwritten_buffer(instruction);
}

bool has_commuting_effects(const Loop& loop) {
  return any_in(loop, commutes) && !any_in(loop, [&](Instruction& instruction) {
           const bool used_outside = llvm::any_of(instruction.users(), [&](llvm::User* user) {
             return !loop.contains(checked_cast<Instruction>(user));
           });
           return used_outside || !runs_at_any_time(instruction);
         });
}

bool only_branches(const BasicBlock& block) {
  return block.getFirstNonPHIOrDbg() == block.getTerminator() && block.phis().empty();
}

// LLVM puts a loop that may have no iteration behind a test of the first one, and what the loop
// computes only once between them. This moves up before the test.
void find_guard(CommutingLoop& commuting) {
  BasicBlock *preheader = commuting.before, *exit = commuting.after;
  BasicBlock* test = preheader->getSinglePredecessor();
  const auto* branch = test ? llvm::dyn_cast<llvm::BranchInst>(test->getTerminator()) : nullptr;
  if (!branch || !branch->isConditional() || !only_branches(*exit)) return;
  const bool enters_if = branch->getSuccessor(0) == preheader;
  BasicBlock* after = branch->getSuccessor(enters_if ? 1 : 0);
  if (exit->getSingleSuccessor() != after || !after->phis().empty() ||
      !llvm::all_of(*preheader, is_speculatable) || !preheader->phis().empty())
    return;
  for (Instruction& instruction : llvm::make_early_inc_range(*preheader)) {
    if (instruction.isTerminator()) break;
    forget_guards(instruction);
    instruction.moveBefore(test->getTerminator());
  }
  commuting = {commuting.loop, test, after, branch->getCondition(), enters_if};
}

// How much values grow from one thread of a row to the next.
class StrideOfThreads : public Growth {
 public:
  StrideOfThreads(const llvm::Function& body, llvm::ScalarEvolution& evolution)
      : Growth(evolution), body_(body) {}

 private:
  std::optional<const SCEV*> of_leaf(const SCEV* value) override {
    if (is_same(Threads::OfRow, *value) && !llvm::isa<llvm::SCEVAddRecExpr>(value))
      return constant(0);
    if (const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(value)) {
      const bool counts = unknown->getValue() == body_.getArg(kXArgument) ||
                          unknown->getValue() == body_.getArg(kIndexArgument);
      return counts ? constant(1) : nullptr;
    }
    const auto* recurrence = llvm::dyn_cast<llvm::SCEVAddRecExpr>(value);
    if (!recurrence) return std::nullopt;
    const SCEV* step = recurrence->isAffine() ? of(recurrence->getOperand(1)) : nullptr;
    return step && step->isZero() ? of(recurrence->getStart()) : nullptr;
  }

  const llvm::Function& body_;
};

// Bytes; the greatest number if they are not known before the kernel runs.
uint64_t distance(const SCEV* stride) {
  const auto* bytes = llvm::dyn_cast<llvm::SCEVConstant>(stride);
  return bytes ? bytes->getAPInt().abs().getLimitedValue() : UINT64_MAX;
}

bool is_near(uint64_t bytes) { return bytes > 0 && bytes <= kCacheLine; }

}  // namespace

std::vector<CommutingLoop> find_commuting_loops(llvm::Function& body,
                                                llvm::FunctionAnalysisManager& analyses,
                                                const llvm::SmallPtrSetImpl<BasicBlock*>& without) {
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(body);
  const auto& ends = analyses.getResult<llvm::PostDominatorTreeAnalysis>(body);
  std::vector<CommutingLoop> found;
  for (Loop* loop : analyses.getResult<llvm::LoopAnalysis>(body)) {
    if (without.contains(loop->getHeader()) || !loop->isLoopSimplifyForm() ||
        loop->getExitingBlock() != loop->getLoopLatch() || !only_counts(*loop, evolution) ||
        !has_commuting_effects(*loop))
      continue;
    CommutingLoop commuting{loop, loop->getLoopPreheader(), loop->getExitBlock()};
    if (!commuting.after->phis().empty()) continue;
    find_guard(commuting);
    if (ends.dominates(commuting.before, &body.getEntryBlock())) found.push_back(commuting);
  }
  return found;
}

IterationOrder best_order(const CommutingLoop& commuting, llvm::ScalarEvolution& evolution,
                          unsigned width) {
  StrideInLoop iterations(*commuting.loop, evolution);
  StrideOfThreads threads(*commuting.before->getParent(), evolution);
  bool gang_by_gang = false, lane_by_lane = false;
  for (BasicBlock* block : commuting.loop->blocks()) {
    for (Instruction& instruction : *block) {
      auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (!load || !is_device_memory(load->getPointerOperand())) continue;
      const SCEV* iteration = iterations.of(load->getPointerOperand());
      const SCEV* thread = threads.of(load->getPointerOperand());
      if (!iteration || !thread) continue;
      const uint64_t between_iterations = distance(iteration), between_threads = distance(thread);
      gang_by_gang |= is_near(between_threads) && between_iterations > width * between_threads;
      lane_by_lane |= is_near(between_iterations) && between_threads > between_iterations;
    }
  }
  if (gang_by_gang == lane_by_lane) return IterationOrder::AsWritten;
  return gang_by_gang ? IterationOrder::GangByGang : IterationOrder::LaneByLane;
}

}  // namespace metal::cpu
