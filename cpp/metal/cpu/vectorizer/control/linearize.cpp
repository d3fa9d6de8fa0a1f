#include "metal/cpu/vectorizer/control/linearize.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ProfDataUtils.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/control/marker_calls.h"
#include "metal/cpu/vectorizer/control/regions.h"
#include "metal/cpu/vectorizer/speculation.h"

namespace metal::cpu {
namespace {

using llvm::AllocaInst;
using llvm::BasicBlock;
using llvm::Instruction;
using llvm::IRBuilder;
using llvm::PHINode;
using llvm::Value;

constexpr size_t kCheapBlock = 8;    // instructions that cost no more than a branch around them
constexpr uint64_t kUnlikely = 100;  // how many times less likely

bool needs_mask(const Instruction& instruction) { return !is_speculatable(instruction); }

// The successor of a branch that the author marked as unlikely, or null.
const BasicBlock* unlikely_target(const llvm::BranchInst& branch) {
  uint64_t yes, no;
  if (!llvm::extractBranchWeights(branch, yes, no)) return nullptr;
  if (yes < no / kUnlikely) return branch.getSuccessor(0);
  return no < yes / kUnlikely ? branch.getSuccessor(1) : nullptr;
}

// Code without divergence, with one entrance: blocks, whole loops and whole regions. Lanes leave it
// at the end of `last`.
struct Item {
  BasicBlock* first;
  BasicBlock* last;
  AllocaInst* mask = nullptr;  // lanes that will run it
  bool unlikely = false;       // lanes rarely run it
};

class Linearizer {
 public:
  Linearizer(llvm::Function& body, const BodyShapes& shapes, llvm::Argument& active)
      : body_(body), active_(active), regions_(find_regions(body, shapes)) {}

  void run() {
    mark_blocks();
    for (const Regions::Divergent& divergent : regions_.divergent) {
      if (divergent.branch) {
        linearize_branch(divergent.branch, regions_.joins.lookup(divergent.branch));
      } else {
        linearize_loop(divergent.loop);
      }
    }
    for (Instruction* context : contexts_) {
      if (!context) continue;
      context->replaceAllUsesWith(&active_);
      context->eraseFromParent();
    }
    repair_values();
    promote();
  }

 private:
  llvm::Type* bit() const { return llvm::Type::getInt1Ty(body_.getContext()); }

  llvm::FunctionCallee marker(const char* name, llvm::Type* result, bool has_argument) {
    return declare_marker(*body_.getParent(), name, result, has_argument);
  }

  AllocaInst* new_slot(llvm::Type* type, const llvm::Twine& name) {
    IRBuilder<> builder(&*body_.getEntryBlock().getFirstInsertionPt());
    AllocaInst* slot = builder.CreateAlloca(type, nullptr, name);
    slots_.push_back(slot);
    return slot;
  }

  // The mask of the surrounding code. A later step replaces this call by the mask.
  Value* context_mask(IRBuilder<>& builder) {
    auto* context = builder.CreateCall(marker(kContext, bit(), false), {}, "context");
    contexts_.push_back(context);
    context_of_[builder.GetInsertBlock()].push_back(contexts_.size() - 1);
    return context;
  }

  void mark_blocks() {
    for (BasicBlock& block : body_) {
      if (llvm::none_of(block, needs_mask)) continue;
      IRBuilder<> builder(&*block.getFirstInsertionPt());
      builder.CreateCall(marker(kBlockMask, builder.getVoidTy(), true), {context_mask(builder)});
    }
  }

  bool is_join(BasicBlock* block) const {
    return !block->getSinglePredecessor() && !regions_.loop_exits.contains(block);
  }

  // Follows code from `first` to where lanes may diverge or where paths join. `header` is that of
  // the loop that is being linearised.
  BasicBlock* end_of_item(BasicBlock* first, BasicBlock* header, const BasicBlock* stop) const {
    BasicBlock* block = first;
    bool inside = first == header;
    for (;;) {
      BasicBlock* next = inside ? nullptr : regions_.loop_exits.lookup(block);
      inside = false;
      // Inner regions are linearised already, or their branches are uniform.
      if (!next) next = regions_.joins.lookup(block);
      if (!next) {
        const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
        if (!branch || branch->isConditional()) return block;
        next = branch->getSuccessor(0);
        if (next == stop || next == header || is_join(next)) return block;
      }
      block = next;
    }
  }

  // Finds the items that can be reached from `entries` before `stop` or the next iteration, in
  // topological order.
  std::vector<Item> find_items(llvm::ArrayRef<BasicBlock*> entries, BasicBlock* header,
                               const BasicBlock* stop) const {
    std::vector<Item> items;
    llvm::DenseSet<BasicBlock*> seen;
    llvm::SmallVector<BasicBlock*> work(entries);
    while (!work.empty()) {
      BasicBlock* first = work.pop_back_val();
      if (first == stop || !seen.insert(first).second) continue;
      BasicBlock* last = end_of_item(first, header, stop);
      items.push_back({first, last});
      for (BasicBlock* next : llvm::successors(last)) {
        if (next != header) work.push_back(next);
      }
    }
    llvm::sort(items, [this](const Item& a, const Item& b) {
      return regions_.position.lookup(a.first) < regions_.position.lookup(b.first);
    });
    return items;
  }

  llvm::SmallVector<BasicBlock*> blocks_of(const Item& item) const {
    llvm::SmallVector<BasicBlock*> found;
    llvm::DenseSet<BasicBlock*> seen;
    llvm::SmallVector<BasicBlock*> work = {item.first};
    while (!work.empty()) {
      BasicBlock* block = work.pop_back_val();
      if (!seen.insert(block).second) continue;
      found.push_back(block);
      if (block != item.last) work.append(llvm::succ_begin(block), llvm::succ_end(block));
    }
    return found;
  }

  // `mask` says which lanes run the item.
  void enter(const Item& item, Value* mask) {
    for (BasicBlock* block : blocks_of(item)) {
      for (Instruction& instruction : *block) forget_guards(instruction);
      auto found = context_of_.find(block);
      if (found == context_of_.end()) continue;
      for (size_t i : found->second) {
        contexts_[i]->replaceAllUsesWith(mask);
        contexts_[i]->eraseFromParent();
        contexts_[i] = nullptr;
      }
      context_of_.erase(found);
    }
  }

  static bool worth_skipping(const Item& item) {
    return item.first != item.last || item.first->size() > kCheapBlock ||
           llvm::any_of(*item.first, needs_mask);
  }

  // Replaces phis by stack slots, to which every predecessor stores.
  llvm::SmallVector<AllocaInst*> demote_phis(BasicBlock* block) {
    llvm::SmallVector<AllocaInst*> slots;
    for (PHINode& phi : llvm::make_early_inc_range(block->phis())) {
      AllocaInst* slot = new_slot(phi.getType(), phi.getName() + ".slot");
      IRBuilder<> builder(&*block->getFirstInsertionPt());
      phi.replaceAllUsesWith(builder.CreateLoad(phi.getType(), slot, phi.getName()));
      for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i)
        incoming_[{phi.getIncomingBlock(i), block}].push_back({slot, phi.getIncomingValue(i)});
      phi.eraseFromParent();
      slots.push_back(slot);
    }
    return slots;
  }

  // Makes the lanes in `mask` go from `from` to `to`.
  void take_edge(IRBuilder<>& builder, BasicBlock* from, BasicBlock* to, Value* mask,
                 AllocaInst* target_mask) {
    const auto found = incoming_.find({from, to});
    if (found != incoming_.end()) {
      for (auto& [slot, value] : found->second) {
        llvm::Type* type = slot->getAllocatedType();
        Value* other = builder.CreateLoad(type, slot);
        builder.CreateStore(builder.CreateSelect(mask, value, other), slot);
      }
    }
    if (!target_mask) return;
    Value* before = builder.CreateLoad(bit(), target_mask);
    builder.CreateStore(builder.CreateOr(before, mask), target_mask);
  }

  struct Targets {
    llvm::DenseMap<BasicBlock*, AllocaInst*> masks;  // of items, by their first block
    llvm::SmallVector<AllocaInst*> values;           // the slots of phis in those blocks
  };

  // Makes the lanes in `mask` leave `block`, and removes its terminator.
  void leave(BasicBlock* block, Value* mask, const Targets& targets) {
    auto* branch = checked_cast<llvm::BranchInst>(block->getTerminator());
    IRBuilder<> builder(branch);
    if (branch->isUnconditional()) {
      take_edge(builder, block, branch->getSuccessor(0), mask,
                targets.masks.lookup(branch->getSuccessor(0)));
    } else {
      Value* condition = branch->getCondition();
      Value* no = llvm::ConstantInt::getFalse(body_.getContext());
      BasicBlock* yes_block = branch->getSuccessor(0);
      BasicBlock* no_block = branch->getSuccessor(1);
      take_edge(builder, block, yes_block, builder.CreateSelect(mask, condition, no),
                targets.masks.lookup(yes_block));
      if (no_block != yes_block) {
        take_edge(builder, block, no_block,
                  builder.CreateSelect(mask, builder.CreateNot(condition), no),
                  targets.masks.lookup(no_block));
      }
    }
    branch->eraseFromParent();
  }

  // Puts the items one after the other behind `before`, which has no terminator. Each is skipped
  // when no lane runs it. Returns the last block, which has no terminator.
  BasicBlock* chain(BasicBlock* before, llvm::ArrayRef<Item> items, const Targets& targets) {
    for (const Item& item : items) {
      BasicBlock* guard = BasicBlock::Create(body_.getContext(), item.first->getName() + ".guard",
                                             &body_, item.first);
      llvm::BranchInst::Create(guard, before);
      IRBuilder<> builder(guard);
      Value* mask = builder.CreateLoad(bit(), item.mask, item.first->getName() + ".mask");
      const bool skip = worth_skipping(item);
      enter(item, mask);
      leave(item.last, mask, targets);
      BasicBlock* after =
          BasicBlock::Create(body_.getContext(), item.first->getName() + ".done", &body_);
      after->moveAfter(item.last);
      llvm::BranchInst::Create(after, item.last);
      if (skip) {
        llvm::MDNode* weights =
            item.unlikely ? llvm::MDBuilder(body_.getContext()).createUnlikelyBranchWeights()
                          : nullptr;
        builder.CreateCondBr(builder.CreateCall(marker(kAnyLane, bit(), true), {mask}), item.first,
                             after, weights);
      } else {
        builder.CreateBr(item.first);
      }
      before = after;
    }
    return before;
  }

  Targets add_masks(llvm::MutableArrayRef<Item> items) {
    Targets targets;
    for (Item& item : items) {
      item.mask = new_slot(bit(), item.first->getName() + ".mask");
      targets.masks[item.first] = item.mask;
      targets.values.append(demote_phis(item.first));
    }
    return targets;
  }

  // Empties the masks: no lane has reached these blocks yet.
  void clear(IRBuilder<>& builder, const Targets& targets) {
    for (const auto& [block, mask] : targets.masks) builder.CreateStore(builder.getFalse(), mask);
    for (AllocaInst* slot : targets.values)
      builder.CreateStore(llvm::PoisonValue::get(slot->getAllocatedType()), slot);
  }

  void linearize_branch(BasicBlock* branch, BasicBlock* join) {
    const llvm::SmallVector<BasicBlock*> entries(llvm::successors(branch));
    std::vector<Item> items = find_items(entries, nullptr, join);
    const BasicBlock* unlikely =
        unlikely_target(*checked_cast<llvm::BranchInst>(branch->getTerminator()));
    for (Item& item : items)
      item.unlikely = item.first == unlikely && item.first->getSinglePredecessor();
    Targets targets = add_masks(items);
    targets.values.append(demote_phis(join));
    IRBuilder<> builder(branch->getTerminator());
    Value* mask = context_mask(builder);
    clear(builder, targets);
    leave(branch, mask, targets);
    llvm::BranchInst::Create(join, chain(branch, items, targets));
  }

  void linearize_loop(const DivergentLoop& loop) {
    std::vector<Item> items = find_items({loop.header}, loop.header, loop.exit);
    const Item first = items.front();
    items.erase(items.begin());
    AllocaInst* live = new_slot(bit(), loop.header->getName() + ".live");
    AllocaInst* next = new_slot(bit(), loop.header->getName() + ".next");
    Targets targets = add_masks(items);
    targets.masks[loop.header] = next;
    demote_phis(loop.exit);

    IRBuilder<> before(loop.preheader->getTerminator());
    before.CreateStore(context_mask(before), live);

    // The header's item runs without a test, as some lane is in the loop. The other items follow.
    IRBuilder<> builder(&*loop.header->getFirstInsertionPt());
    Value* mask = builder.CreateLoad(bit(), live, loop.header->getName() + ".mask");
    clear(builder, targets);
    llvm::SmallVector<BasicBlock*> latches;
    for (BasicBlock* block : llvm::predecessors(loop.header)) {
      if (block != loop.preheader) latches.push_back(block);
    }
    enter(first, mask);
    leave(first.last, mask, targets);
    BasicBlock* end = chain(first.last, items, targets);

    builder.SetInsertPoint(end);
    Value* going_on = builder.CreateLoad(bit(), next);
    builder.CreateStore(going_on, live);
    builder.CreateCondBr(builder.CreateCall(marker(kAnyLane, bit(), true), {going_on}), loop.header,
                         loop.exit);
    for (PHINode& phi : loop.header->phis()) {
      for (BasicBlock* latch : latches) phi.replaceIncomingBlockWith(latch, end);
    }
  }

  // Definitions in blocks that may be skipped do not dominate their uses any more. Such values go
  // through memory, too.
  void repair_values() {
    llvm::DominatorTree dominators(body_);
    llvm::SmallVector<Instruction*> broken;
    for (Instruction& instruction : llvm::instructions(body_)) {
      if (llvm::isa<AllocaInst>(instruction)) continue;
      for (const llvm::Use& use : instruction.uses()) {
        if (dominators.dominates(&instruction, use)) continue;
        broken.push_back(&instruction);
        break;
      }
    }
    const auto place = body_.getEntryBlock().getFirstInsertionPt();
    for (Instruction* instruction : broken)
      slots_.push_back(llvm::DemoteRegToStack(*instruction, false, place));
  }

  void promote() {
    llvm::removeUnreachableBlocks(body_);
    llvm::DominatorTree dominators(body_);
    llvm::PromoteMemToReg(slots_, dominators);
  }

  using Edge = std::pair<BasicBlock*, BasicBlock*>;

  llvm::Function& body_;
  llvm::Argument& active_;
  Regions regions_;
  std::vector<AllocaInst*> slots_;
  std::vector<Instruction*> contexts_;
  llvm::DenseMap<BasicBlock*, llvm::SmallVector<size_t, 2>> context_of_;
  llvm::DenseMap<Edge, std::vector<std::pair<AllocaInst*, llvm::TrackingVH<Value>>>> incoming_;
};

}  // namespace

void linearize(llvm::Function& body, const BodyShapes& shapes, llvm::Argument& active) {
  Linearizer(body, shapes, active).run();
}

}  // namespace metal::cpu
