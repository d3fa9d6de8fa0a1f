#include "metal/cpu/vectorizer/control/phase_loops.h"

#include <list>
#include <optional>

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/control/gang_dependence.h"
#include "metal/cpu/vectorizer/control/gang_places.h"
#include "metal/cpu/vectorizer/control/split_at_barriers.h"
#include "metal/cpu/vectorizer/wide_entry.h"

namespace metal::cpu {
namespace {

using llvm::AllocaInst;
using llvm::BasicBlock;
using llvm::Instruction;
using llvm::IRBuilder;
using llvm::PHINode;
using llvm::Value;

constexpr uint64_t kWidestVector = 64;   // bytes of a register
constexpr unsigned kMostRecomputed = 8;  // instructions, instead of a value from the frame

// What gangs run between barriers, or between places where the paths of phases join. It is only
// entered at its first block.
struct Phase {
  BasicBlock* first = nullptr;
  bool differs = false;  // whether gangs do different things, so that each must run it
  // What is done once before the loop over the gangs, and at the start of each iteration.
  BasicBlock *before = nullptr, *head = nullptr;
  std::optional<GangPlaces> places;
  Value *frame = nullptr, *private_memory = nullptr;  // of the gang
  llvm::SmallVector<Value*> arguments;
  llvm::DenseMap<Value*, Value*> values;  // those of other phases, as this one knows them
};

// A way from one phase to the next, or out of the function. It is a block of the earlier phase.
struct Exit {
  Phase* from;
  Phase* to;  // null: the gang has ended
  BasicBlock* block;
};

// The kinds of instructions that are cheap to compute again for each gang.
bool is_cheap(const Instruction& instruction) {
  if (instruction.isIntDivRem()) return false;
  return llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::GetElementPtrInst, llvm::ICmpInst,
                   llvm::InsertElementInst, llvm::ShuffleVectorInst>(instruction);
}

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

// Memory that has a part for each gang.
class GangMemory {
 public:
  void allocate(IRBuilder<>& b, const char* name) {
    memory_ = b.CreateAlloca(b.getInt8Ty(), b.getInt64(0), name);
  }

  // Returns the offset of so many bytes in each part.
  uint64_t add(uint64_t bytes, llvm::Align align) {
    const uint64_t offset = llvm::alignTo(size_, align);
    size_ = offset + bytes;
    align_ = std::max(align_, align);
    return offset;
  }

  Value* part(IRBuilder<>& b, Value* gang) {
    // The size of a part is known at the end.
    auto* offset = llvm::BinaryOperator::CreateMul(gang, b.getInt64(0));
    offsets_.push_back(offset);
    return b.CreateGEP(b.getInt8Ty(), memory_, b.Insert(offset));
  }

  void finish(Value* gangs) {
    IRBuilder<> b(memory_);
    memory_->setAlignment(align_);
    Value* size = b.getInt64(llvm::alignTo(size_, align_));
    for (llvm::BinaryOperator* offset : offsets_) offset->setOperand(1, size);
    memory_->setOperand(0, b.CreateMul(b.CreateZExt(gangs, b.getInt64Ty()), size));
  }

 private:
  AllocaInst* memory_ = nullptr;
  uint64_t size_ = 0;
  llvm::Align align_{kWidestVector};
  llvm::SmallVector<llvm::BinaryOperator*> offsets_;
};

class PhaseLoops {
 public:
  PhaseLoops(llvm::Function& code, const Variant& variant)
      : code_(code),
        variant_(variant),
        dependence_(code, {kXArgument, kYArgument, kZArgument, kIndexArgument, kActiveArgument},
                    variant.width) {}

  bool run() {
    if (!dependence_.find_regions()) return false;
    split_at_barriers();
    find_phases();
    make_exits();
    find_shared_slots();
    find_what_differs();
    // From here on, the code of one gang becomes the code of all.
    make_entry();
    for (Phase& phase : phases_) open(phase);
    pass_values_on();
    for (Phase& phase : phases_) close(phase);
    finish_entry();
    return true;
  }

 private:
  void split_at_barriers() {
    llvm::SmallVector<Instruction*> barriers;
    for (Instruction& instruction : llvm::instructions(code_))
      if (is_barrier(instruction)) barriers.push_back(&instruction);
    for (Instruction* barrier : barriers) {
      starts_.insert(llvm::SplitBlock(barrier->getParent(), barrier->getNextNode()));
      barrier->eraseFromParent();
    }
    starts_.insert(&code_.getEntryBlock());
  }

  void find_phases() {
    find_starts();
    separate_decisions();
    const auto start_of = find_starts();
    llvm::DenseMap<BasicBlock*, Phase*> phases;
    for (BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&code_)) {
      if (starts_.contains(block)) {
        phases[block] = &phases_.emplace_back();
        phases[block]->first = block;
      }
      phase_of_[block] = phases.lookup(start_of.lookup(block));
    }
  }

  // Returns the first block of each block's phase. A block belongs to the phase of the blocks
  // before it. If these are of several phases, it starts one.
  llvm::DenseMap<BasicBlock*, BasicBlock*> find_starts() {
    const llvm::ReversePostOrderTraversal<llvm::Function*> order(&code_);
    llvm::DenseMap<BasicBlock*, BasicBlock*> start_of;
    auto first_conflict = [&]() -> BasicBlock* {
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
    };
    while (BasicBlock* block = first_conflict()) starts_.insert(block);
    return start_of;
  }

  // What only decides whether another phase follows is a phase of its own, which is not repeated
  // for each gang.
  void separate_decisions() {
    const llvm::SmallVector<BasicBlock*> starts(starts_.begin(), starts_.end());
    for (BasicBlock* block : starts) {
      if (llvm::any_of(*block,
                       [&](const Instruction& instruction) { return differs(instruction); }))
        continue;
      if (llvm::any_of(llvm::successors(block), [&](auto* next) { return starts_.contains(next); }))
        starts_.insert(llvm::succ_begin(block), llvm::succ_end(block));
    }
  }

  // Whether each gang must run the instruction. Phis at the start of a phase are no work.
  bool differs(const Instruction& instruction) const {
    return dependence_.depends(&instruction) && !llvm::isa<AllocaInst>(instruction) &&
           !is_start_phi(&instruction);
  }

  // Gives each way out of a phase a block of its own.
  void make_exits() {
    llvm::SmallVector<std::pair<BasicBlock*, Phase*>> blocks(phase_of_.begin(), phase_of_.end());
    for (const auto& [block, phase] : blocks) {
      Instruction* end = block->getTerminator();
      if (llvm::isa<llvm::ReturnInst>(end)) {
        BasicBlock* exit = llvm::SplitBlock(block, end);
        add_exit({phase, nullptr, exit});
        continue;
      }
      for (unsigned i = 0; i < end->getNumSuccessors(); ++i) {
        BasicBlock* next = end->getSuccessor(i);
        if (!starts_.contains(next)) continue;
        BasicBlock* exit = new_block("phase.exit", block->getNextNode());
        llvm::BranchInst::Create(next, exit);
        end->setSuccessor(i, exit);
        for (PHINode& phi : next->phis())
          phi.addIncoming(phi.getIncomingValueForBlock(block), exit);
        add_exit({phase, phase_of_[next], exit});
      }
      // The phis of the next phases now have the exits instead.
      for (BasicBlock* start : starts_)
        for (PHINode& phi : llvm::make_early_inc_range(start->phis()))
          while (phi.getBasicBlockIndex(block) >= 0) phi.removeIncomingValue(block, false);
    }
  }

  void add_exit(const Exit& exit) {
    exits_.push_back(exit);
    phase_of_[exit.block] = exit.from;
  }

  // Finds what a phi of a loop becomes in the next iteration, if that can be kept where the phi is,
  // so that it need not be copied there.
  void find_shared_slots() {
    const llvm::DominatorTree dominators(code_);
    llvm::SmallPtrSet<PHINode*, 8> shared;
    for (const Exit& exit : exits_) {
      if (!exit.to) continue;
      for (PHINode& phi : exit.to->first->phis()) {
        auto* value = llvm::dyn_cast<Instruction>(phi.getIncomingValueForBlock(exit.block));
        if (!value || shared.contains(&phi) || next_of_.contains(value)) continue;
        if (!can_share(*value, phi, dominators)) continue;
        next_of_[value] = &phi;
        shared.insert(&phi);
      }
    }
  }

  // Where the value is computed, nothing may need the phi's old value any more. Conversely, the
  // phi gets another value only in an iteration whose value nothing needs any more, because the
  // phi dominates the value.
  bool can_share(Instruction& value, PHINode& phi, const llvm::DominatorTree& dominators) const {
    if (!dependence_.depends(&phi) || !dependence_.depends(&value) || is_start_phi(&value) ||
        llvm::isa<AllocaInst>(value) || cost_of_recomputing(value) <= kMostRecomputed ||
        !dominators.dominates(phi.getParent(), value.getParent()))
      return false;
    const auto later =
        phases_after(*phase_of_.lookup(value.getParent()), phase_of_.lookup(phi.getParent()));
    for (const llvm::User* user : phi.users()) {
      auto* instruction = const_cast<Instruction*>(checked_cast<Instruction>(user));
      if (!is_start_phi(user) && later.contains(phase_of_.lookup(instruction->getParent())))
        return false;
    }
    return llvm::none_of(exits_, [&](const Exit& exit) {
      return exit.to && later.contains(exit.from) &&
             llvm::any_of(exit.to->first->phis(), [&](PHINode& other) {
               return other.getIncomingValueForBlock(exit.block) == &phi && &other != &phi;
             });
    });
  }

  // The phases that may run after this one and before `end`.
  llvm::SmallSetVector<const Phase*, 8> phases_after(const Phase& phase, const Phase* end) const {
    llvm::SmallSetVector<const Phase*, 8> later;
    auto add_next = [&](const Phase* from) {
      for (const Exit& exit : exits_)
        if (exit.from == from && exit.to && exit.to != end) later.insert(exit.to);
    };
    add_next(&phase);
    for (size_t i = 0; i < later.size(); ++i) add_next(later[i]);
    return later;
  }

  // A phase need not run for each gang if it only decides what comes next.
  void find_what_differs() {
    for (const auto& [block, phase] : phase_of_) {
      for (const Instruction& instruction : *block) phase->differs |= differs(instruction);
    }
    for (const Exit& exit : exits_) {
      if (!exit.to) continue;
      for (PHINode& phi : exit.to->first->phis())
        exit.from->differs |= dependence_.depends(&phi) && !has_next_value(phi, exit);
    }
  }

  // Whether the value that the phi gets is already where the phi is kept.
  bool has_next_value(PHINode& phi, const Exit& exit) const {
    Value* value = phi.getIncomingValueForBlock(exit.block);
    return value == &phi || next_of_.lookup(value) == &phi;
  }

  void make_entry() {
    BasicBlock& first = code_.getEntryBlock();
    entry_ = BasicBlock::Create(code_.getContext(), "entry", &code_, &first);
    for (Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(code_)))
      if (instruction.isLifetimeStartOrEnd()) instruction.eraseFromParent();
    b_.SetInsertPoint(entry_);
    gangs_ = gang_count(b_, code_.getArg(kGroupArgument), variant_);
    frames_.allocate(b_, "frames");
    private_.allocate(b_, "private");
    share_variables(first);
  }

  // Gangs can use one variable in turn, if it is only used in a phase that each of them runs once.
  void share_variables(BasicBlock& first) {
    for (Instruction& instruction : llvm::make_early_inc_range(first)) {
      if (!llvm::isa<AllocaInst>(instruction)) continue;
      llvm::SmallPtrSet<Phase*, 2> phases;
      for (llvm::User* user : instruction.users())
        phases.insert(phase_of_.lookup(checked_cast<Instruction>(user)->getParent()));
      if (phases.size() == 1 && !runs_again(**phases.begin()))
        instruction.moveBefore(*entry_, entry_->end());
    }
  }

  bool runs_again(const Phase& phase) const {
    llvm::SmallSetVector<const Phase*, 8> later;
    later.insert(&phase);
    for (size_t i = 0; i < later.size(); ++i) {
      for (const Exit& exit : exits_) {
        if (exit.from != later[i] || !exit.to) continue;
        if (exit.to == &phase) return true;
        later.insert(exit.to);
      }
    }
    return false;
  }

  // Makes what comes before the phase's first block.
  void open(Phase& phase) {
    phase.before = new_block("phase", phase.first);
    b_.SetInsertPoint(phase.before);
    Value* number = b_.getInt32(0);
    if (phase.differs) {
      // The first gang runs last in all phases but the first one, as kernels let it overwrite what
      // the others still read.
      phase.places.emplace(b_, code_.getArg(kGroupArgument), gangs_, variant_,
                           &phase != &phases_.front());
      phase.head = new_block("gang", phase.first);
      b_.CreateBr(phase.head);
      b_.SetInsertPoint(phase.head);
      phase.places->begin_iteration(b_, phase.before);
      number = phase.places->number();
      phase.arguments = phase.places->arguments();
    } else {
      phase.arguments = gang_arguments(b_, code_.getArg(kGroupArgument), number, variant_);
    }
    Value* gang = b_.CreateZExt(number, b_.getInt64Ty());
    phase.frame = frames_.part(b_, gang);
    phase.private_memory = private_.part(b_, gang);
    b_.CreateBr(phase.first);
  }

  BasicBlock* new_block(const char* name, BasicBlock* before) {
    return BasicBlock::Create(code_.getContext(), name, &code_, before);
  }

  void pass_values_on() {
    for (const Exit& exit : exits_) {
      if (!exit.to) continue;
      for (PHINode& phi : exit.to->first->phis()) {
        Value* value = phi.getIncomingValueForBlock(exit.block);
        if (has_next_value(phi, exit)) {
          if (value != &phi) slot_of(*checked_cast<Instruction>(value));
          continue;
        }
        value = value_in(*exit.from, value);
        b_.SetInsertPoint(exit.block->getTerminator());
        store(*exit.from, phi, value);
      }
    }
    // Other phases compute values again from the original operands, so these stay until the end.
    llvm::SmallVector<std::pair<llvm::Use*, Value*>> changes;
    for (const auto& [block, phase] : phase_of_) {
      for (Instruction& instruction : *block) {
        if (is_start_phi(&instruction)) continue;
        for (llvm::Use& operand : instruction.operands())
          if (!llvm::isa<BasicBlock>(operand))
            changes.emplace_back(&operand, value_in(*phase, operand));
      }
    }
    for (const auto& [operand, value] : changes) operand->set(value);
    llvm::SmallVector<Instruction*> replaced;
    for (const auto& [block, phase] : phase_of_)
      for (Instruction& instruction : *block)
        if (is_start_phi(&instruction) || llvm::isa<AllocaInst>(instruction))
          replaced.push_back(&instruction);
    for (Instruction* instruction : replaced) {
      instruction->replaceAllUsesWith(llvm::PoisonValue::get(instruction->getType()));
      instruction->eraseFromParent();
    }
  }

  bool is_start_phi(const Value* value) const {
    const auto* phi = llvm::dyn_cast<PHINode>(value);
    return phi && starts_.contains(const_cast<BasicBlock*>(phi->getParent()));
  }

  // What the value is in a phase, which may be another one than that which computes it.
  Value* value_in(Phase& phase, Value* value) {
    if (auto* argument = llvm::dyn_cast<llvm::Argument>(value))
      return argument->getArgNo() < phase.arguments.size() ? phase.arguments[argument->getArgNo()]
                                                           : value;
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    const Phase* home = instruction ? phase_of_.lookup(instruction->getParent()) : nullptr;
    if (!home) return value;
    const bool is_passed = is_start_phi(value) || llvm::isa<AllocaInst>(value);
    if (!is_passed && home == &phase) return value;
    if (Value* known = phase.values.lookup(value)) return known;
    Value* found = nullptr;
    if (auto* variable = llvm::dyn_cast<AllocaInst>(value)) {
      found = private_memory(phase, *variable);
    } else if (const auto cost = cost_of_recomputing(*instruction); cost <= kMostRecomputed) {
      found = recompute(phase, *instruction);
    } else {
      found = load(phase, *instruction);
    }
    phase.values[value] = found;
    return found;
  }

  // Sets the builder to the end of what a phase does first: for each gang, or once.
  void go_to_start(const Phase& phase, bool each_gang) {
    b_.SetInsertPoint((each_gang && phase.head ? phase.head : phase.before)->getTerminator());
  }

  // So many instructions compute the value from what all phases know; more than the limit if that
  // is not possible.
  unsigned cost_of_recomputing(const Instruction& instruction, unsigned depth = 0) const {
    if (!dependence_.depends(&instruction)) return depth == 0 ? kMostRecomputed + 1 : 0;
    if (depth > 0 && (is_start_phi(&instruction) || llvm::isa<AllocaInst>(instruction))) return 1;
    if (depth > kMostRecomputed || !is_cheap(instruction)) return kMostRecomputed + 1;
    unsigned cost = 1;
    for (const Value* operand : instruction.operands()) {
      const auto* from = llvm::dyn_cast<Instruction>(operand);
      if (from) cost += cost_of_recomputing(*from, depth + 1);
      if (cost > kMostRecomputed) break;
    }
    return cost;
  }

  Value* recompute(Phase& phase, Instruction& instruction) {
    Instruction* copy = instruction.clone();
    for (llvm::Use& operand : copy->operands()) operand.set(value_in(phase, operand));
    go_to_start(phase, true);
    b_.Insert(copy, instruction.getName());
    return copy;
  }

  Value* load(const Phase& phase, Instruction& value) {
    const Slot slot = slot_of(value);
    go_to_start(phase, !slot.variable);
    return b_.CreateAlignedLoad(value.getType(), address_of(phase, slot), slot.align,
                                value.getName());
  }

  // Stores at the builder's position.
  void store(const Phase& phase, Instruction& value, Value* stored) {
    const Slot slot = slot_of(value);
    b_.CreateAlignedStore(stored, address_of(phase, slot), slot.align);
  }

  // Where a value is kept for other phases: in a variable, if it is the same for all gangs, or at
  // an offset in the frame of each.
  struct Slot {
    AllocaInst* variable = nullptr;
    uint64_t offset = 0;
    llvm::Align align{1};
  };

  Slot slot_of(Instruction& value) {
    const auto known = slots_.find(&value);
    if (known != slots_.end()) return known->second;
    PHINode* phi = next_of_.lookup(&value);
    const Slot slot = phi ? slot_of(*phi) : new_slot(value);
    slots_[&value] = slot;
    if (!is_start_phi(&value)) {
      const IRBuilder<>::InsertPointGuard guard(b_);
      const auto after = llvm::isa<PHINode>(value) ? value.getParent()->getFirstInsertionPt()
                                                   : std::next(value.getIterator());
      b_.SetInsertPoint(value.getParent(), after);
      b_.CreateAlignedStore(&value, address_of(*phase_of_.lookup(value.getParent()), slot),
                            slot.align);
    }
    return slot;
  }

  Slot new_slot(const Instruction& value) {
    Slot slot;
    const llvm::DataLayout& layout = code_.getParent()->getDataLayout();
    llvm::Type* type = value.getType();
    if (dependence_.depends(&value)) {
      slot.align = std::min(layout.getPrefTypeAlign(type), llvm::Align(kWidestVector));
      slot.offset = frames_.add(layout.getTypeAllocSize(type), slot.align);
    } else {
      slot.variable = new AllocaInst(type, 0, value.getName(), entry_->begin());
      slot.align = slot.variable->getAlign();
    }
    return slot;
  }

  Value* address_of(const Phase& phase, const Slot& slot) {
    if (slot.variable) return slot.variable;
    return b_.CreateConstGEP1_64(b_.getInt8Ty(), phase.frame, slot.offset);
  }

  Value* private_memory(const Phase& phase, AllocaInst& variable) {
    const auto [place, is_new] = private_offsets_.try_emplace(&variable);
    if (is_new) {
      const auto size = variable.getAllocationSize(code_.getParent()->getDataLayout());
      place->second = private_.add(size->getFixedValue(), variable.getAlign());
    }
    go_to_start(phase, true);
    return b_.CreateConstGEP1_64(b_.getInt8Ty(), phase.private_memory, place->second);
  }

  // Ends the loop over the gangs. All of them have left the phase by the same exit.
  void close(Phase& phase) {
    llvm::SmallVector<const Exit*> exits;
    for (const Exit& exit : exits_)
      if (exit.from == &phase) exits.push_back(&exit);
    if (!phase.differs) {
      for (const Exit* exit : exits)
        if (exit->to) exit->block->getTerminator()->setSuccessor(0, exit->to->before);
      return;
    }
    BasicBlock* place = exits.empty() ? nullptr : exits.back()->block->getNextNode();
    BasicBlock* latch = new_block("gang.end", place);
    BasicBlock* after = new_block("phase.end", place);
    b_.SetInsertPoint(latch);
    PHINode* taken = b_.CreatePHI(b_.getInt32Ty(), static_cast<unsigned>(exits.size()), "exit");
    for (size_t i = 0; i < exits.size(); ++i) {
      taken->addIncoming(b_.getInt32(static_cast<uint32_t>(i)), exits[i]->block);
      exits[i]->block->getTerminator()->eraseFromParent();
      llvm::BranchInst::Create(latch, exits[i]->block);
    }
    Value* ends = phase.places->end_iteration(b_);
    b_.CreateCondBr(ends, after, phase.head);
    b_.SetInsertPoint(after);
    b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent, llvm::SyncScope::SingleThread);
    auto target = [&](const Exit& exit) { return exit.to ? exit.to->before : end(); };
    if (exits.empty()) {
      b_.CreateUnreachable();
      return;
    }
    llvm::SwitchInst* choice = b_.CreateSwitch(taken, target(*exits[0]));
    for (size_t i = 1; i < exits.size(); ++i)
      choice->addCase(b_.getInt32(static_cast<uint32_t>(i)), target(*exits[i]));
  }

  BasicBlock* end() {
    if (end_) return end_;
    end_ = new_block("end", nullptr);
    llvm::ReturnInst::Create(code_.getContext(), end_);
    return end_;
  }

  void finish_entry() {
    b_.SetInsertPoint(entry_);
    b_.CreateBr(phases_.front().before);
    frames_.finish(gangs_);
    private_.finish(gangs_);
    llvm::SmallVector<AllocaInst*> variables;
    for (const auto& [value, slot] : slots_)
      if (slot.variable) variables.push_back(slot.variable);
    llvm::DominatorTree dominators(code_);
    llvm::PromoteMemToReg(variables, dominators);
  }

  llvm::Function& code_;
  const Variant& variant_;
  GangDependence dependence_;
  IRBuilder<> b_{code_.getContext()};
  llvm::SmallSetVector<BasicBlock*, 8> starts_;  // the first blocks of phases
  std::list<Phase> phases_;
  llvm::MapVector<BasicBlock*, Phase*> phase_of_;
  llvm::SmallVector<Exit> exits_;
  BasicBlock* entry_ = nullptr;
  Value* gangs_ = nullptr;
  BasicBlock* end_ = nullptr;
  GangMemory frames_, private_;
  llvm::MapVector<Instruction*, Slot> slots_;
  llvm::DenseMap<const Value*, PHINode*> next_of_;  // the phi whose slot a value shares
  llvm::DenseMap<AllocaInst*, uint64_t> private_offsets_;
};

}  // namespace

bool make_phase_loops(llvm::Function& wide, const Variant& variant) {
  simplify_loops(wide);
  return PhaseLoops(wide, variant).run();
}

}  // namespace metal::cpu
