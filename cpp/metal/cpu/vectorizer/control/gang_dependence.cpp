#include "metal/cpu/vectorizer/control/gang_dependence.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/control/split_at_barriers.h"
#include "metal/cpu/vectorizer/speculation.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

// Where gangs may take different paths. Kernels that guard each of a thread's results have
// hundreds.
constexpr unsigned kMostRegions = 1024;

// Whether each gang needs its own copy, although the operands may be the same for all.
bool is_of_one_gang(const Instruction& instruction) {
  if (is_barrier(instruction) || instruction.isTerminator()) return false;
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  return llvm::isa<llvm::AllocaInst>(instruction) || instruction.mayHaveSideEffects() ||
         (load && !load->isSimple());
}

BasicBlock* split_before_branch(BasicBlock& block) {
  return llvm::SplitBlock(&block, block.getTerminator());
}

bool collect(GangRegion& region, BasicBlock& after) {
  llvm::SmallVector<BasicBlock*> pending{region.entrance};
  while (!pending.empty()) {
    BasicBlock* block = pending.pop_back_val();
    if (block == &after || !region.blocks.insert(block)) continue;
    if (llvm::any_of(*block, is_barrier)) return false;
    llvm::append_range(pending, llvm::successors(block));
    if (llvm::succ_empty(block)) return false;
  }
  return llvm::all_of(region.blocks, [&](BasicBlock* block) {
    return block == region.entrance || llvm::all_of(llvm::predecessors(block), [&](auto* from) {
             return region.blocks.contains(from);
           });
  });
}

void make_preheader(GangRegion& region) {
  llvm::SmallVector<BasicBlock*> outside;
  for (BasicBlock* from : llvm::predecessors(region.entrance)) {
    if (!region.blocks.contains(from)) outside.push_back(from);
  }
  llvm::SplitBlockPredecessors(region.entrance, outside, ".gangs");
}

// Whether the block only ends the code, perhaps by way of blocks that do nothing.
bool leaves(const BasicBlock& block) {
  llvm::SmallPtrSet<const BasicBlock*, 4> seen;
  const Instruction* first = block.getFirstNonPHIOrDbg();
  while (first->isTerminator() && first->getNumSuccessors() == 1 &&
         seen.insert(first->getParent()).second)
    first = first->getSuccessor(0)->getFirstNonPHIOrDbg();
  return llvm::isa<llvm::ReturnInst>(first);
}

// Whether code that runs before the end of the block, or again after it, has effects.
bool may_follow_effects(const BasicBlock& end) {
  llvm::SmallPtrSet<const BasicBlock*, 16> seen;
  llvm::SmallVector<const BasicBlock*> pending{&end};
  while (!pending.empty()) {
    const BasicBlock* block = pending.pop_back_val();
    if (!seen.insert(block).second) continue;
    if (llvm::any_of(*block, has_effects)) return true;
    llvm::append_range(pending, llvm::predecessors(block));
  }
  return false;
}

}  // namespace

GangDependence::GangDependence(llvm::Function& code, llvm::ArrayRef<unsigned> arguments,
                               uint32_t width)
    : code_(code), width_(width) {
  for (unsigned argument : arguments) depends_.insert(code.getArg(argument));
  spread();
}

bool GangDependence::find_regions() {
  for (unsigned i = 0; i <= kMostRegions; ++i) {
    spread();
    BasicBlock* branch = next_branch();
    if (!branch) return true;
    if (!add_region(*branch)) return false;
  }
  return false;
}

void GangDependence::find_guards() {
  for (BasicBlock& block : code_) {
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (!branch || !branch->isConditional() || !depends(branch)) continue;
    const bool first = leaves(*branch->getSuccessor(0)), second = leaves(*branch->getSuccessor(1));
    if (first != second && !may_follow_effects(block)) guards_.push_back({branch, second});
  }
}

bool GangDependence::is_guard(const BasicBlock& block) const {
  return llvm::any_of(
      guards_, [&](const GangGuard& guard) { return guard.branch == block.getTerminator(); });
}

const GangRegion* GangDependence::region_of(const BasicBlock* block) const {
  for (const GangRegion& region : regions_) {
    if (region.blocks.contains(const_cast<BasicBlock*>(block))) return &region;
  }
  return nullptr;
}

void GangDependence::spread() {
  for (bool changed = true; changed;) {
    changed = false;
    for (BasicBlock& block : code_) {
      const bool in_region = in_regions_.contains(&block);
      for (Instruction& instruction : block) {
        if (depends_.contains(&instruction)) continue;
        const bool depends =
            in_region || is_of_one_gang(instruction) ||
            (!is_place_in_gang(instruction) &&
             llvm::any_of(instruction.operands(), [&](Value* v) { return depends_.contains(v); }));
        if (depends) changed |= depends_.insert(&instruction).second;
      }
    }
  }
}

// The index of a gang's first thread, or its x, modulo a number that divides the size of a gang.
bool GangDependence::is_place_in_gang(const Instruction& instruction) const {
  const auto* mask = instruction.getOpcode() == Instruction::And
                         ? llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1))
                         : nullptr;
  const Value* number = mask ? instruction.getOperand(0) : nullptr;
  return mask && mask->getValue().ult(width_) &&
         (number == code_.getArg(kIndexArgument) || number == code_.getArg(kXArgument));
}

// A block outside regions at whose end gangs may take different paths.
BasicBlock* GangDependence::next_branch() const {
  for (BasicBlock& block : code_) {
    const Instruction& terminator = *block.getTerminator();
    if (terminator.getNumSuccessors() > 1 && depends_.contains(&terminator) &&
        !in_regions_.contains(&block) && !is_guard(block))
      return &block;
  }
  return nullptr;
}

// The region that starts at the branch, or at the loops that it leaves.
bool GangDependence::add_region(BasicBlock& branch) {
  llvm::DominatorTree dominators(code_);
  const llvm::PostDominatorTree post_dominators(code_);
  const llvm::LoopInfo loops(dominators);
  const auto* node = post_dominators.getNode(&branch);
  BasicBlock* after = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
  if (!after) return false;
  const llvm::Loop* loop = nullptr;
  for (const llvm::Loop* l = loops.getLoopFor(&branch); l && !l->contains(after);
       l = l->getParentLoop())
    loop = l;
  GangRegion region;
  region.entrance = loop ? loop->getHeader() : split_before_branch(branch);
  if (!collect(region, *after)) return false;
  if (loop) make_preheader(region);
  return add_exit(region, *after);
}

// Regions inside the new one become parts of it.
bool GangDependence::add_exit(GangRegion& region, BasicBlock& after) {
  llvm::SmallVector<BasicBlock*> inside;
  for (BasicBlock* from : llvm::predecessors(&after)) {
    if (region.blocks.contains(from)) inside.push_back(from);
  }
  region.last = llvm::SplitBlockPredecessors(&after, inside, ".gang");
  if (!region.last) return false;
  region.blocks.insert(region.last);
  llvm::erase_if(regions_,
                 [&](const GangRegion& other) { return region.blocks.contains(other.entrance); });
  in_regions_.insert(region.blocks.begin(), region.blocks.end());
  regions_.push_back(std::move(region));
  return true;
}

}  // namespace metal::cpu
