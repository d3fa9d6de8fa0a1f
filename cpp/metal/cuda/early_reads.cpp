#include "metal/cuda/early_reads.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "metal/compiler/kernel_form.h"

namespace metal::cuda {
namespace {

using llvm::Instruction;

constexpr unsigned kMostMoved = 16;  // reads, in front of one instruction

bool is_relaxed_update(const Instruction& instruction) {
  const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
  return update && update->getOrdering() == llvm::AtomicOrdering::Monotonic &&
         !update->isVolatile();
}

// Where reads go: in front of the first instruction that delays them since the last one that orders
// accesses. Null if there is none.
struct Target {
  Instruction* place = nullptr;
  unsigned moved = 0;
};

class EarlyReads {
 public:
  explicit EarlyReads(llvm::Function& entry)
      : entry_(entry), dominators_(entry), post_dominators_(entry), loops_(dominators_) {}

  void run() {
    for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&entry_))
      at_end_[block] = move_reads(*block, target_at_start(*block));
  }

 private:
  // Returns the target at the end of the block.
  Target move_reads(llvm::BasicBlock& block, Target target) {
    for (Instruction& instruction : llvm::make_early_inc_range(block)) {
      if (orders_accesses(instruction)) {
        target = {};
      } else if (!target.place && delays_reads(instruction)) {
        target = {&instruction};
      } else if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
        if (target.place && target.moved < kMostMoved && move(*load, *target.place)) ++target.moved;
      }
    }
    return target;
  }

  // NVIDIA's assembler moves reads in front of stores where LLVM says that they are constant. LLVM
  // does not find that out from the long sums that are addresses in unrolled loops.
  bool delays_reads(const Instruction& instruction) const {
    if (is_relaxed_update(instruction)) return true;
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    return ((store && store->isSimple()) || exchanges_lanes(instruction)) &&
           loops_.getLoopFor(instruction.getParent());
  }

  // If only a branch and what it guards lie between two blocks, threads that run the first block
  // also run the second one.
  Target target_at_start(llvm::BasicBlock& block) const {
    const auto* parent = dominators_.getNode(&block)->getIDom();
    llvm::BasicBlock* before = parent ? parent->getBlock() : nullptr;
    if (!before || loops_.getLoopFor(before) != loops_.getLoopFor(&block) ||
        !post_dominators_.dominates(&block, before))
      return {};
    Target target = at_end_.lookup(before);
    llvm::SmallPtrSet<llvm::BasicBlock*, 8> seen{&block};
    llvm::SmallVector<llvm::BasicBlock*> work(llvm::successors(before));
    while (!work.empty()) {
      llvm::BasicBlock* between = work.pop_back_val();
      if (!seen.insert(between).second) continue;
      if (loops_.getLoopFor(between) != loops_.getLoopFor(before)) return {};
      for (const Instruction& instruction : *between) {
        if (orders_accesses(instruction)) return {};
        if (!target.place && delays_reads(instruction)) target = {before->getTerminator()};
      }
      llvm::append_range(work, llvm::successors(between));
    }
    return target;
  }

  bool move(llvm::LoadInst& load, Instruction& place) const {
    llvm::SmallSetVector<Instruction*, 16> needed;
    if (!add_needed(load, place, needed)) return false;
    for (Instruction* instruction : needed) instruction->moveBefore(&place);
    return true;
  }

  // Adds what the read needs and the read, in order. False if some of that must stay.
  bool add_needed(Instruction& instruction, const Instruction& place,
                  llvm::SmallSetVector<Instruction*, 16>& needed) const {
    if (dominators_.dominates(&instruction, &place) || needed.contains(&instruction)) return true;
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    const bool may_move = load ? load->isSimple() && reads_constant_buffer(*load)
                               : !llvm::isa<llvm::PHINode>(instruction) &&
                                     llvm::isSafeToSpeculativelyExecute(&instruction) &&
                                     !instruction.mayReadOrWriteMemory();
    if (!may_move) return false;
    for (llvm::Value* operand : instruction.operands()) {
      auto* before = llvm::dyn_cast<Instruction>(operand);
      if (before && !add_needed(*before, place, needed)) return false;
    }
    needed.insert(&instruction);
    return true;
  }

  llvm::Function& entry_;
  const llvm::DominatorTree dominators_;
  const llvm::PostDominatorTree post_dominators_;
  const llvm::LoopInfo loops_;
  llvm::DenseMap<llvm::BasicBlock*, Target> at_end_;
};

}  // namespace

bool reads_constant_buffer(const llvm::LoadInst& load) {
  llvm::SmallVector<const llvm::Value*> objects;
  // Unrolled loops have long chains of sums.
  llvm::getUnderlyingObjects(load.getPointerOperand(), objects, nullptr, /*MaxLookup=*/0);
  return llvm::all_of(objects, [](const llvm::Value* object) {
    const auto* buffer = llvm::dyn_cast<llvm::Argument>(object);
    return buffer && buffer->hasNoAliasAttr();
  });
}

bool exchanges_lanes(const Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  llvm::StringRef name = callee ? callee->getName() : "";
  return name.consume_front(compiler::kRuntimePrefix) && name.starts_with("simd_");
}

bool orders_accesses(const Instruction& instruction) {
  if (is_relaxed_update(instruction) || exchanges_lanes(instruction)) return false;
  if (instruction.isAtomic() || instruction.isVolatile()) return true;
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call && (call->isConvergent() || call->mayWriteToMemory());
}

void read_early(llvm::Function& entry) { EarlyReads(entry).run(); }

}  // namespace metal::cuda
