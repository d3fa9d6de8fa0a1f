#include "metal/cpu/vectorizer/control/phase_loops.h"

#include <optional>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/control/gang_dependence.h"
#include "metal/cpu/vectorizer/control/gang_places.h"
#include "metal/cpu/vectorizer/control/loops_of_gangs.h"
#include "metal/cpu/vectorizer/control/phase_bounds.h"
#include "metal/cpu/vectorizer/control/phase_order.h"
#include "metal/cpu/vectorizer/control/phase_values.h"
#include "metal/cpu/vectorizer/control/phases.h"
#include "metal/cpu/vectorizer/control/split_at_barriers.h"
#include "metal/cpu/vectorizer/wide_entry.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::PHINode;
using llvm::Value;

// Loops without barriers are then entered from one block, and belong to one phase. What is used
// after such a loop gets a phi there, so that the loop does not store it in each iteration.
void simplify_loops(llvm::Function& code) {
  llvm::removeUnreachableBlocks(code);
  llvm::DominatorTree dominators(code);
  llvm::LoopInfo loops(dominators);
  for (llvm::Loop* loop : loops)
    llvm::simplifyLoop(loop, &dominators, &loops, nullptr, nullptr, nullptr, false);
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    const bool waits = llvm::any_of(
        loop->blocks(), [](BasicBlock* block) { return llvm::any_of(*block, is_barrier); });
    if (!waits) llvm::formLCSSA(*loop, dominators, &loops, nullptr);
  }
}

// The arguments of a gang are never poison. Without `freeze`, phases can compute them again.
void thaw_arguments(llvm::Function& code) {
  for (llvm::Argument& argument : code.args()) {
    for (llvm::User* user : llvm::make_early_inc_range(argument.users())) {
      auto* freeze = llvm::dyn_cast<llvm::FreezeInst>(user);
      if (!freeze) continue;
      freeze->replaceAllUsesWith(&argument);
      freeze->eraseFromParent();
    }
  }
}

// Builds the loops around phases.
class PhaseLoops {
 public:
  PhaseLoops(llvm::Function& code, const GangDependence& dependence, const Variant& variant)
      : code_(code),
        dependence_(dependence),
        variant_(variant),
        phases_(code, dependence, variant.gangs_in_row > 0 && variant.rows == 1),
        values_(code, phases_, dependence),
        b_(code.getContext()) {}

  void build() {
    entry_ = new_block("entry", &code_.getEntryBlock());
    b_.SetInsertPoint(entry_);
    gangs_ = gang_count(b_, group(), variant_);
    values_.allocate(b_);
    find_copies();
    for (Phase& phase : phases_.all()) open(phase);
    values_.pass_on();
    for (Phase& phase : phases_.all()) bound(phase);
    for (Phase& phase : phases_.all()) close(phase);
    b_.SetInsertPoint(entry_);
    b_.CreateBr(loops_[&phases_.all().front()].before);
    values_.finish(gangs_);
  }

 private:
  // Around a phase. Without a loop, `places` is empty, and `head` is `before`.
  struct Loop {
    BasicBlock *before = nullptr, *head = nullptr;
    std::optional<GangPlaces> places;
    bool is_unrolled = false;
  };

  Value* group() const { return code_.getArg(kGroupArgument); }

  BasicBlock* new_block(const char* name, BasicBlock* before) {
    return BasicBlock::Create(code_.getContext(), name, &code_, before);
  }

  // Makes what comes before the phase's first block.
  void open(Phase& phase) {
    Loop& loop = loops_[&phase];
    loop.head = loop.before = new_block("phase", phase.first);
    b_.SetInsertPoint(loop.before);
    PhaseStart start;
    Value* number = b_.getInt32(0);
    if (values_.differs(phase)) {
      // The first gang runs last in all phases but the first one, as kernels let it overwrite what
      // the others still read. Phases with barriers of descending_barriers.h need that. But
      // processors read memory faster forwards.
      const bool backwards = &phase != &phases_.all().front() && !runs_in_any_order(phases_, phase);
      loop.places.emplace(b_, group(), gangs_, variant_, backwards);
      loop.head = new_block("gang", phase.first);
      b_.CreateBr(loop.head);
      b_.SetInsertPoint(loop.head);
      loop.places->begin_iteration(b_, loop.before);
      number = loop.places->number();
      start.arguments = loop.places->arguments();
    } else {
      start.arguments = gang_arguments(b_, group(), number, variant_);
    }
    start.once = loop.before;
    start.each_gang = loop.head;
    values_.start(phase, std::move(start), b_, b_.CreateZExt(number, b_.getInt64Ty()));
    b_.CreateBr(phase.first);
  }

  // Leaves gangs out that have nothing to do in the phase. What they would store for other phases
  // is in the code by now, but the exits still lead to the next phases.
  void bound(Phase& phase) {
    Loop& loop = loops_[&phase];
    if (!loop.places || !loop.places->can_bound()) return;
    LoopedPhase looped{.first = phase.first,
                       .each_gang = loop.head,
                       .arguments = loop.places->arguments(),
                       .variables = values_.variables()};
    for (const auto& [block, its_phase] : phases_.blocks())
      if (its_phase == &phase) looped.blocks.insert(block);
    b_.SetInsertPoint(loop.before->getTerminator());
    if (const auto busy = find_busy_gangs(b_, looped, dependence_, variant_, gangs_))
      loop.places->bound(b_, busy->first, busy->end);
  }

  // Where gangs choose among copies of a loop, each gets its own.
  void find_copies() {
    if (!has_loops_of_gangs(code_)) return;
    llvm::DenseMap<const Phase*, unsigned> choices;
    for (const auto& [block, phase] : phases_.blocks()) choices[phase] += choices_of_gang(*block);
    const uint32_t gangs = variant_.gangs_in_row * variant_.rows / variant_.jammed;
    for (Phase& phase : phases_.all()) loops_[&phase].is_unrolled = 2 * choices[&phase] > gangs;
  }

  void unroll(llvm::BranchInst& repeat) {
    llvm::LLVMContext& context = code_.getContext();
    auto* full = llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.full"));
    llvm::MDNode* id = llvm::MDNode::getDistinct(context, {nullptr, full});
    id->replaceOperandWith(0, id);
    repeat.setMetadata(llvm::LLVMContext::MD_loop, id);
  }

  // Makes what comes after the phase's exits.
  void close(Phase& phase) {
    llvm::SmallVector<const PhaseExit*> exits;
    for (const PhaseExit& exit : phases_.exits())
      if (exit.from == &phase) exits.push_back(&exit);
    if (loops_[&phase].places) {
      close_loop(loops_[&phase], exits);
    } else {
      for (const PhaseExit* exit : exits)
        if (exit->to) exit->block->getTerminator()->setSuccessor(0, loops_[exit->to].before);
    }
  }

  // All gangs leave the phase by the same exit.
  void close_loop(Loop& loop, llvm::ArrayRef<const PhaseExit*> exits) {
    BasicBlock* place = exits.empty() ? nullptr : exits.back()->block->getNextNode();
    BasicBlock* latch = new_block("gang.end", place);
    BasicBlock* after = new_block("phase.end", place);
    b_.SetInsertPoint(latch);
    PHINode* taken = b_.CreatePHI(b_.getInt32Ty(), static_cast<unsigned>(exits.size()), "exit");
    for (size_t i = 0; i < exits.size(); ++i) {
      taken->addIncoming(number_of_exit(i), exits[i]->block);
      exits[i]->block->getTerminator()->eraseFromParent();
      llvm::BranchInst::Create(latch, exits[i]->block);
    }
    llvm::BranchInst* repeat = b_.CreateCondBr(loop.places->end_iteration(b_), after, loop.head);
    if (loop.is_unrolled) unroll(*repeat);
    b_.SetInsertPoint(after);
    b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent, llvm::SyncScope::SingleThread);
    if (exits.empty()) {
      b_.CreateUnreachable();
      return;
    }
    llvm::SwitchInst* choice = b_.CreateSwitch(taken, target(*exits[0]));
    for (size_t i = 1; i < exits.size(); ++i) choice->addCase(number_of_exit(i), target(*exits[i]));
  }

  llvm::ConstantInt* number_of_exit(size_t number) {
    return b_.getInt32(static_cast<uint32_t>(number));
  }

  BasicBlock* target(const PhaseExit& exit) {
    if (exit.to) return loops_[exit.to].before;
    if (!end_) {
      end_ = new_block("end", nullptr);
      llvm::ReturnInst::Create(code_.getContext(), end_);
    }
    return end_;
  }

  llvm::Function& code_;
  const GangDependence& dependence_;
  const Variant& variant_;
  Phases phases_;
  PhaseValues values_;
  llvm::IRBuilder<> b_;
  BasicBlock* entry_ = nullptr;
  BasicBlock* end_ = nullptr;
  Value* gangs_ = nullptr;
  llvm::DenseMap<const Phase*, Loop> loops_;
};

}  // namespace

bool make_phase_loops(llvm::Function& wide, const Variant& variant) {
  thaw_arguments(wide);
  simplify_loops(wide);
  GangDependence dependence(
      wide, {kXArgument, kYArgument, kZArgument, kIndexArgument, kActiveArgument}, variant.width);
  if (!dependence.find_regions()) return false;
  PhaseLoops(wide, dependence, variant).build();
  return true;
}

}  // namespace metal::cpu
