#include "metal/cpu/vectorizer/widen/lane_loads.h"

#include <algorithm>

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InstIterator.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/vectorizer/memory/separate_memory.h"
#include "metal/cpu/vectorizer/widen/widen_memory.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;

constexpr size_t kMaxSteps = 6;  // more are cheaper as vectors

// Whether the instruction takes one scalar instruction or none, and cannot trap.
bool is_step(const Instruction& instruction) {
  if (const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(&instruction))
    return operation->getType()->isIntegerTy() && !operation->isIntDivRem();
  return llvm::isa<llvm::ZExtInst, llvm::SExtInst, llvm::TruncInst, llvm::GetElementPtrInst>(
      instruction);
}

// The one operand that is not uniform; null if there are several.
Instruction* varying_operand(const Widener& w, const Instruction& instruction) {
  Value* found = nullptr;
  for (Value* operand : instruction.operands()) {
    if (w.shape(operand).is_uniform()) continue;
    if (found) return nullptr;
    found = operand;
  }
  return llvm::dyn_cast_or_null<Instruction>(found);
}

}  // namespace

LaneLoads::LaneLoads(Widener& widener, llvm::Function& body) : w_(widener) {
  for (Instruction& instruction : llvm::instructions(body)) {
    if (auto* operation = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
      find_address(*operation);
  }
  find_without_vector();
}

const LaneAddress* LaneLoads::address_of(const llvm::AtomicRMWInst& operation) const {
  const auto* found = addresses_.find(&operation);
  return found == addresses_.end() ? nullptr : &found->second;
}

void LaneLoads::find_address(llvm::AtomicRMWInst& operation) {
  if (!is_exclusive(operation) || w_.shape(operation.getPointerOperand()) != Shape::varying())
    return;
  LaneAddress address{};
  auto* next = llvm::dyn_cast<Instruction>(operation.getPointerOperand());
  while (next && is_step(*next) && address.steps.size() < kMaxSteps) {
    address.steps.push_back(next);
    next = varying_operand(w_, *next);
  }
  address.load = llvm::dyn_cast_or_null<llvm::LoadInst>(next);
  if (!address.load || !may_read_again(*address.load)) return;
  std::reverse(address.steps.begin(), address.steps.end());
  addresses_.insert({&operation, address});
}

// The index is read after other lanes' operations, and a lane may have compared it with a bound
// before. So nothing may write to it while the kernel runs. It is an integer, as steps take one.
bool LaneLoads::may_read_again(const llvm::LoadInst& load) const {
  const Shape shape = w_.shape(load.getPointerOperand());
  return load.isSimple() && load.getType()->isIntegerTy() && reads_unwritten_buffer(load) &&
         !shape.is_uniform() && (shape.has_offsets() || shape.is_strided());
}

// The vector is left out if nothing else needs it.
void LaneLoads::find_without_vector() {
  llvm::DenseSet<const Instruction*> operations;
  llvm::SetVector<const Instruction*> candidates;
  for (const auto& [operation, address] : addresses_) {
    operations.insert(operation);
    candidates.insert(address.load);
    candidates.insert(address.steps.begin(), address.steps.end());
  }
  auto is_address = [&](const llvm::Use& use) {
    const auto* user = checked_cast<Instruction>(use.getUser());
    return candidates.contains(user) ||
           (operations.contains(user) &&
            use.getOperandNo() == llvm::AtomicRMWInst::getPointerOperandIndex());
  };
  auto has_other_use = [&](const Instruction* candidate) {
    return !llvm::all_of(candidate->uses(), is_address);
  };
  while (candidates.remove_if(has_other_use)) {
  }
  without_vector_.insert(candidates.begin(), candidates.end());
}

// LLVM has to keep the load: it would take the element from the vector's register instead, if there
// is one.
Value* compute_address(Widener& w, const LaneAddress& address, Value* place) {
  llvm::IRBuilder<>& b = w.builder();
  constexpr bool kVolatile = true;
  auto* load =
      b.CreateAlignedLoad(address.load->getType(), place, address.load->getAlign(), kVolatile);
  load->setAAMetadata(address.load->getAAMetadata());  // not that of the operation
  Value* value = load;
  const Value* before = address.load;
  for (const Instruction* step : address.steps) {
    Instruction* copy = step->clone();
    copy->dropPoisonGeneratingFlags();
    for (llvm::Use& operand : copy->operands())
      operand.set(operand.get() == before ? value : w.first(operand.get()));
    value = b.Insert(copy);
    before = step;
  }
  return value;
}

}  // namespace metal::cpu
