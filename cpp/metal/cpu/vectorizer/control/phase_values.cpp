#include "metal/cpu/vectorizer/control/phase_values.h"

#include <algorithm>

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/vectorizer/control/gang_dependence.h"

namespace metal::cpu {

using llvm::AllocaInst;
using llvm::BasicBlock;
using llvm::Instruction;
using llvm::PHINode;
using llvm::Value;

namespace {

constexpr uint64_t kWidestVector = 64;   // bytes of a register
constexpr unsigned kMostRecomputed = 8;  // instructions, instead of a value from the frame

bool is_cheap(const Instruction& instruction) {
  if (instruction.isIntDivRem()) return false;
  return llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::GetElementPtrInst, llvm::ICmpInst,
                   llvm::InsertElementInst, llvm::ShuffleVectorInst>(instruction);
}

// Whether memory is accessed through the operand, whose value is not kept.
bool only_accesses(const llvm::Use& operand) {
  const auto& user = *checked_cast<Instruction>(operand.getUser());
  if (llvm::isa<llvm::LoadInst>(user)) return true;
  if (llvm::isa<llvm::StoreInst>(user))
    return operand.getOperandNo() == llvm::StoreInst::getPointerOperandIndex();
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&user);
  if (!call) return false;
  switch (call->getIntrinsicID()) {
    case llvm::Intrinsic::masked_load:
    case llvm::Intrinsic::masked_gather:
    case llvm::Intrinsic::memset:
    case llvm::Intrinsic::memcpy:
    case llvm::Intrinsic::memmove:
    case llvm::Intrinsic::prefetch:
      return true;
    case llvm::Intrinsic::masked_store:
    case llvm::Intrinsic::masked_scatter:
      return operand.getOperandNo() == 1;
    default:
      return false;
  }
}

// Finds what uses a variable, also through addresses that are computed from its own.
class VariableUsers {
 public:
  explicit VariableUsers(AllocaInst& variable) { add(variable); }

  // Whether its address may be kept where it is not followed.
  bool escape() const { return escape_; }
  llvm::ArrayRef<Instruction*> all() const { return users_.getArrayRef(); }

 private:
  void add(Instruction& address) {
    for (llvm::Use& use : address.uses()) {
      auto& user = *checked_cast<Instruction>(use.getUser());
      if (only_accesses(use) || llvm::isa<llvm::CmpInst>(user)) {
        users_.insert(&user);
      } else if (user.mayReadOrWriteMemory() || user.isTerminator()) {
        escape_ = true;
      } else if (users_.insert(&user)) {
        add(user);
      }
    }
  }

  llvm::SmallSetVector<Instruction*, 16> users_;
  bool escape_ = false;
};

}  // namespace

void GangMemory::allocate(llvm::IRBuilder<>& b, const char* name) {
  memory_ = b.CreateAlloca(b.getInt8Ty(), b.getInt64(0), name);
  align_ = llvm::Align(kWidestVector);
}

uint64_t GangMemory::add(uint64_t bytes, llvm::Align align) {
  const uint64_t offset = llvm::alignTo(size_, align);
  size_ = offset + bytes;
  align_ = std::max(align_, align);
  return offset;
}

Value* GangMemory::part(llvm::IRBuilder<>& b, Value* gang) {
  auto* offset = llvm::BinaryOperator::CreateMul(gang, b.getInt64(0));
  offsets_.push_back(offset);
  return b.CreateGEP(b.getInt8Ty(), memory_, b.Insert(offset));
}

void GangMemory::finish(Value* gangs) {
  llvm::IRBuilder<> b(memory_);
  memory_->setAlignment(align_);
  Value* size = b.getInt64(llvm::alignTo(size_, align_));
  for (llvm::BinaryOperator* offset : offsets_) offset->setOperand(1, size);
  memory_->setOperand(0, b.CreateMul(b.CreateZExt(gangs, b.getInt64Ty()), size));
}

PhaseValues::PhaseValues(llvm::Function& code, Phases& phases, const GangDependence& dependence)
    : code_(code), phases_(phases), dependence_(dependence), b_(code.getContext()) {
  find_shared_slots();
  find_differing();
}

// Finds what a phi of a loop becomes in the next iteration, if that can be kept where the phi is,
// so that it need not be copied there.
void PhaseValues::find_shared_slots() {
  const llvm::DominatorTree dominators(code_);
  llvm::SmallPtrSet<PHINode*, 8> shared;
  for (const PhaseExit& exit : phases_.exits()) {
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

// Where the value is computed, nothing may need the phi's old value any more. Conversely, the phi
// gets another value only in an iteration whose value nothing needs any more, because the phi
// dominates the value.
bool PhaseValues::can_share(Instruction& value, PHINode& phi,
                            const llvm::DominatorTree& dominators) const {
  if (!dependence_.depends(&phi) || !dependence_.depends(&value) || phases_.is_start_phi(&value) ||
      llvm::isa<AllocaInst>(value) || cost_of_recomputing(value) <= kMostRecomputed ||
      !dominators.dominates(phi.getParent(), value.getParent()))
    return false;
  const Phases::Set later =
      phases_.after(*phases_.of(value.getParent()), phases_.of(phi.getParent()));
  for (llvm::User* user : phi.users()) {
    auto* instruction = checked_cast<Instruction>(user);
    if (!phases_.is_start_phi(user) && later.contains(phases_.of(instruction->getParent())))
      return false;
  }
  return llvm::none_of(phases_.exits(), [&](const PhaseExit& exit) {
    return exit.to && later.contains(exit.from) &&
           llvm::any_of(exit.to->first->phis(), [&](PHINode& other) {
             return &other != &phi && other.getIncomingValueForBlock(exit.block) == &phi;
           });
  });
}

// Whether the value that the phi gets is already where the phi is kept.
bool PhaseValues::has_next_value(PHINode& phi, const PhaseExit& exit) const {
  Value* value = phi.getIncomingValueForBlock(exit.block);
  return value == &phi || next_of_.lookup(value) == &phi;
}

void PhaseValues::find_differing() {
  for (const auto& [block, phase] : phases_.blocks()) {
    if (llvm::any_of(*block, [&](Instruction& one) { return phases_.differs(one); }))
      differing_.insert(phase);
  }
  for (const PhaseExit& exit : phases_.exits()) {
    if (!exit.to) continue;
    for (PHINode& phi : exit.to->first->phis()) {
      if (dependence_.depends(&phi) && !has_next_value(phi, exit)) differing_.insert(exit.from);
    }
  }
}

void PhaseValues::allocate(llvm::IRBuilder<>& b) {
  entry_ = b.GetInsertBlock();
  frames_.allocate(b, "frames");
  private_.allocate(b, "private");
  share_variables();
}

// Gangs can use one variable in turn, if it is only used in a phase that each of them runs once.
void PhaseValues::share_variables() {
  for (Instruction& instruction : llvm::make_early_inc_range(*phases_.all().front().first)) {
    auto* variable = llvm::dyn_cast<AllocaInst>(&instruction);
    if (!variable) continue;
    const VariableUsers users(*variable);
    llvm::SmallPtrSet<Phase*, 2> phases;
    for (Instruction* user : users.all()) phases.insert(phases_.of(user->getParent()));
    if (users.escape() || phases.size() != 1) continue;
    const Phase* phase = *phases.begin();
    if (!phases_.after(*phase, nullptr).contains(phase))
      instruction.moveBefore(*entry_, entry_->end());
  }
}

void PhaseValues::start(const Phase& phase, PhaseStart start, llvm::IRBuilder<>& b, Value* gang) {
  start.frame = frames_.part(b, gang);
  start.private_memory = private_.part(b, gang);
  starts_[&phase] = std::move(start);
}

void PhaseValues::pass_on() {
  store_phis();
  replace_operands();
  remove_replaced();
}

void PhaseValues::store_phis() {
  for (const PhaseExit& exit : phases_.exits()) {
    if (!exit.to) continue;
    for (PHINode& phi : exit.to->first->phis()) {
      Value* value = phi.getIncomingValueForBlock(exit.block);
      if (has_next_value(phi, exit)) {
        if (value != &phi) slot_of(*checked_cast<Instruction>(value));
        continue;
      }
      value = value_in(*exit.from, value);
      const Slot slot = slot_of(phi);
      b_.SetInsertPoint(exit.block->getTerminator());
      b_.CreateAlignedStore(value, address_of(starts_[exit.from], slot), slot.align);
    }
  }
}

// Phases compute values again from the original operands, so these stay until the end.
void PhaseValues::replace_operands() {
  llvm::SmallVector<std::pair<llvm::Use*, Value*>> changes;
  for (const auto& [block, phase] : phases_.blocks()) {
    for (Instruction& instruction : *block) {
      if (phases_.is_start_phi(&instruction)) continue;
      for (llvm::Use& operand : instruction.operands()) {
        if (!llvm::isa<BasicBlock>(operand))
          changes.emplace_back(&operand, value_in(*phase, operand));
      }
    }
  }
  for (const auto& [operand, value] : changes) operand->set(value);
}

void PhaseValues::remove_replaced() {
  llvm::SmallVector<Instruction*> replaced;
  for (const auto& [block, phase] : phases_.blocks()) {
    for (Instruction& instruction : *block) {
      if (phases_.is_start_phi(&instruction) || llvm::isa<AllocaInst>(instruction))
        replaced.push_back(&instruction);
    }
  }
  for (Instruction* instruction : replaced) {
    instruction->replaceAllUsesWith(llvm::PoisonValue::get(instruction->getType()));
    instruction->eraseFromParent();
  }
}

// What the value is in a phase, which may be another one than that which computes it.
Value* PhaseValues::value_in(Phase& phase, Value* value) {
  PhaseStart& start = starts_[&phase];
  if (auto* argument = llvm::dyn_cast<llvm::Argument>(value))
    return start.arguments[argument->getArgNo()];
  auto* instruction = llvm::dyn_cast<Instruction>(value);
  const Phase* home = instruction ? phases_.of(instruction->getParent()) : nullptr;
  if (!home) return value;
  auto* variable = llvm::dyn_cast<AllocaInst>(value);
  if (home == &phase && !variable && !phases_.is_start_phi(value)) return value;
  if (Value* known = start.values.lookup(value)) return known;
  Value* found = variable ? private_memory(start, *variable)
                 : cost_of_recomputing(*instruction) <= kMostRecomputed
                     ? recompute(phase, *instruction)
                     : load(start, *instruction);
  start.values[value] = found;
  return found;
}

Value* PhaseValues::private_memory(const PhaseStart& start, AllocaInst& variable) {
  const auto [place, is_new] = private_offsets_.try_emplace(&variable);
  if (is_new) {
    const auto size = variable.getAllocationSize(code_.getParent()->getDataLayout());
    place->second = private_.add(size->getFixedValue(), variable.getAlign());
  }
  b_.SetInsertPoint(start.each_gang->getTerminator());
  return b_.CreateConstGEP1_64(b_.getInt8Ty(), start.private_memory, place->second);
}

// So many instructions compute the value from what all phases know; more than the limit if that is
// not possible.
unsigned PhaseValues::cost_of_recomputing(const Instruction& instruction, unsigned depth) const {
  if (!dependence_.depends(&instruction)) return depth == 0 ? kMostRecomputed + 1 : 0;
  if (depth > 0 && (phases_.is_start_phi(&instruction) || llvm::isa<AllocaInst>(instruction)))
    return 1;
  if (depth > kMostRecomputed || !is_cheap(instruction)) return kMostRecomputed + 1;
  unsigned cost = 1;
  for (const Value* operand : instruction.operands()) {
    const auto* from = llvm::dyn_cast<Instruction>(operand);
    if (from) cost += cost_of_recomputing(*from, depth + 1);
    if (cost > kMostRecomputed) break;
  }
  return cost;
}

// The operands are still those from which the value was computed. Its definition lies on every way
// to what uses it, and theirs on every way to it: code that ran theirs again would also have run
// the value's again.
Value* PhaseValues::recompute(Phase& phase, Instruction& instruction) {
  Instruction* copy = instruction.clone();
  for (llvm::Use& operand : copy->operands()) operand.set(value_in(phase, operand));
  b_.SetInsertPoint(starts_[&phase].each_gang->getTerminator());
  return b_.Insert(copy, instruction.getName());
}

Value* PhaseValues::load(const PhaseStart& start, Instruction& value) {
  const Slot slot = slot_of(value);
  b_.SetInsertPoint((slot.variable ? start.once : start.each_gang)->getTerminator());
  Value* address = slot.variable ? slot.variable
                                 : b_.CreateConstGEP1_64(b_.getInt8Ty(), start.frame, slot.offset);
  return b_.CreateAlignedLoad(value.getType(), address, slot.align, value.getName());
}

// Where the value is kept for other phases. The first call makes its own phase store it.
PhaseValues::Slot PhaseValues::slot_of(Instruction& value) {
  const auto known = slots_.find(&value);
  if (known != slots_.end()) return known->second;
  PHINode* phi = next_of_.lookup(&value);
  const Slot slot = phi ? slot_of(*phi) : new_slot(value);
  slots_[&value] = slot;
  if (phases_.is_start_phi(&value)) return slot;
  BasicBlock* block = value.getParent();
  b_.SetInsertPoint(block, llvm::isa<PHINode>(value) ? block->getFirstInsertionPt()
                                                     : std::next(value.getIterator()));
  b_.CreateAlignedStore(&value, address_of(starts_[phases_.of(block)], slot), slot.align);
  return slot;
}

PhaseValues::Slot PhaseValues::new_slot(const Instruction& value) {
  Slot slot;
  const llvm::DataLayout& layout = code_.getParent()->getDataLayout();
  llvm::Type* type = value.getType();
  if (dependence_.depends(&value)) {
    slot.align = std::min(layout.getPrefTypeAlign(type), llvm::Align(kWidestVector));
    slot.offset = frames_.add(layout.getTypeAllocSize(type), slot.align);
  } else {
    slot.variable = new AllocaInst(type, 0, value.getName(), entry_->begin());
    slot.align = slot.variable->getAlign();
    variables_.insert(slot.variable);
  }
  return slot;
}

Value* PhaseValues::address_of(const PhaseStart& start, const Slot& slot) {
  if (slot.variable) return slot.variable;
  return b_.CreateConstGEP1_64(b_.getInt8Ty(), start.frame, slot.offset);
}

void PhaseValues::finish(Value* gangs) {
  frames_.finish(gangs);
  private_.finish(gangs);
  llvm::SmallVector<AllocaInst*> variables;
  for (const auto& [value, slot] : slots_)
    if (slot.variable) variables.push_back(slot.variable);
  llvm::DominatorTree dominators(code_);
  llvm::PromoteMemToReg(variables, dominators);
}

}  // namespace metal::cpu
