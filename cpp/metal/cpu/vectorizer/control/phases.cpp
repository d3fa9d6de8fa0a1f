#include "metal/cpu/vectorizer/control/phases.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "metal/cpu/vectorizer/control/descending_barriers.h"
#include "metal/cpu/vectorizer/control/gang_dependence.h"
#include "metal/cpu/vectorizer/control/split_at_barriers.h"

namespace metal::cpu {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::PHINode;

Phases::Phases(llvm::Function& code, const GangDependence& dependence, bool in_row)
    : code_(code), dependence_(dependence) {
  split_at_barriers(in_row);
  find_starts();
  separate_decisions();
  find_phases();
  make_exits();
}

Phases::Set Phases::after(const Phase& phase, const Phase* end) const {
  Set later;
  auto add_next = [&](const Phase* from) {
    for (const PhaseExit& exit : exits_)
      if (exit.from == from && exit.to && exit.to != end) later.insert(exit.to);
  };
  add_next(&phase);
  for (size_t i = 0; i < later.size(); ++i) add_next(later[i]);
  return later;
}

bool Phases::is_start_phi(const llvm::Value* value) const {
  const auto* phi = llvm::dyn_cast<PHINode>(value);
  return phi && starts_.contains(const_cast<BasicBlock*>(phi->getParent()));
}

bool Phases::differs(const Instruction& instruction) const {
  return dependence_.depends(&instruction) && !llvm::isa<llvm::AllocaInst>(instruction) &&
         !is_start_phi(&instruction);
}

void Phases::split_at_barriers(bool in_row) {
  llvm::SmallVector<Instruction*> barriers;
  for (Instruction& instruction : llvm::instructions(code_))
    if (is_barrier(instruction)) barriers.push_back(&instruction);
  for (Instruction* barrier : barriers) {
    if (!in_row || !is_descending(*barrier))
      starts_.insert(llvm::SplitBlock(barrier->getParent(), barrier->getNextNode()));
    barrier->eraseFromParent();
  }
  starts_.insert(&code_.getEntryBlock());
}

// Returns the first block of each block's phase. A block belongs to the phase of the blocks before
// it. If these are of several phases, it starts one.
llvm::DenseMap<BasicBlock*, BasicBlock*> Phases::find_starts() {
  llvm::DenseMap<BasicBlock*, BasicBlock*> start_of;
  while (BasicBlock* block = first_conflict(start_of)) starts_.insert(block);
  return start_of;
}

BasicBlock* Phases::first_conflict(llvm::DenseMap<BasicBlock*, BasicBlock*>& start_of) const {
  const llvm::ReversePostOrderTraversal<llvm::Function*> order(&code_);
  start_of.clear();
  for (BasicBlock* block : order) {
    BasicBlock* start = starts_.contains(block) ? block : nullptr;
    for (BasicBlock* before : llvm::predecessors(block))
      if (!start) start = start_of.lookup(before);
    start_of[block] = start;
  }
  for (BasicBlock* block : order) {
    if (!starts_.contains(block) && llvm::any_of(llvm::predecessors(block), [&](auto* before) {
          return start_of.lookup(before) != start_of.lookup(block);
        }))
      return block;
  }
  return nullptr;
}

// What only decides whether another phase follows is a phase of its own, which is not repeated for
// each gang.
void Phases::separate_decisions() {
  const llvm::SmallVector<BasicBlock*> starts(starts_.begin(), starts_.end());
  for (BasicBlock* block : starts) {
    if (llvm::any_of(*block, [&](const Instruction& instruction) { return differs(instruction); }))
      continue;
    if (llvm::any_of(llvm::successors(block), [&](auto* next) { return starts_.contains(next); }))
      starts_.insert(llvm::succ_begin(block), llvm::succ_end(block));
  }
}

void Phases::find_phases() {
  const auto start_of = find_starts();
  llvm::DenseMap<BasicBlock*, Phase*> phases;
  for (BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&code_)) {
    if (starts_.contains(block)) phases[block] = &phases_.emplace_back(block);
    phase_of_[block] = phases.lookup(start_of.lookup(block));
  }
}

// Gives each way out of a phase a block of its own.
void Phases::make_exits() {
  const llvm::SmallVector<std::pair<BasicBlock*, Phase*>> blocks(phase_of_.begin(),
                                                                 phase_of_.end());
  for (const auto& [block, phase] : blocks) make_exits_of(*block, *phase);
}

void Phases::make_exits_of(BasicBlock& block, Phase& phase) {
  Instruction* end = block.getTerminator();
  if (llvm::isa<llvm::ReturnInst>(end)) {
    add_exit({&phase, nullptr, llvm::SplitBlock(&block, end)});
    return;
  }
  for (unsigned i = 0; i < end->getNumSuccessors(); ++i) {
    BasicBlock* next = end->getSuccessor(i);
    if (!starts_.contains(next)) continue;
    auto* exit = BasicBlock::Create(code_.getContext(), "phase.exit", &code_, block.getNextNode());
    llvm::BranchInst::Create(next, exit);
    end->setSuccessor(i, exit);
    for (PHINode& phi : next->phis()) phi.addIncoming(phi.getIncomingValueForBlock(&block), exit);
    add_exit({&phase, phase_of_[next], exit});
  }
  // The phis of the next phases now have the exits instead.
  for (BasicBlock* start : starts_) {
    for (PHINode& phi : start->phis())
      while (phi.getBasicBlockIndex(&block) >= 0) phi.removeIncomingValue(&block, false);
  }
}

void Phases::add_exit(const PhaseExit& exit) {
  exits_.push_back(exit);
  phase_of_[exit.block] = exit.from;
}

}  // namespace metal::cpu
