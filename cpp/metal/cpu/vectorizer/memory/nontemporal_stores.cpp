#include "metal/cpu/vectorizer/memory/nontemporal_stores.h"

#include <cstdlib>
#include <utility>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "metal/cpu/codegen/lower.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/memory/buffers.h"

namespace metal::cpu {
namespace {

using llvm::Value;

using Objects = llvm::SmallVector<const Value*, 4>;

Objects objects_of(const Value* pointer, llvm::LoopInfo& loops) {
  Objects objects;
  llvm::getUnderlyingObjects(pointer, objects, &loops);
  return objects;
}

// The objects that are accessed in other ways than by plain stores.
llvm::DenseSet<const Value*> find_read_objects(const llvm::Function& body, llvm::LoopInfo& loops) {
  llvm::DenseSet<const Value*> read;
  for (const llvm::Instruction& instruction : llvm::instructions(body)) {
    if (!instruction.mayReadOrWriteMemory()) continue;
    for (const Value* operand : instruction.operands()) {
      if (!operand->getType()->isPointerTy() || llvm::isa<llvm::StoreInst>(instruction)) continue;
      for (const Value* object : objects_of(operand, loops)) read.insert(object);
    }
  }
  return read;
}

// Whether every iteration of every loop around the store writes to another place, as far as the
// analysis can tell.
bool moves_in_loops(const llvm::StoreInst& store, llvm::LoopInfo& loops,
                    llvm::ScalarEvolution& evolution) {
  const llvm::SCEV* address = evolution.getSCEV(const_cast<Value*>(store.getPointerOperand()));
  for (const llvm::Loop* loop = loops.getLoopFor(store.getParent()); loop;
       loop = loop->getParentLoop()) {
    if (evolution.isLoopInvariant(address, loop)) return false;
    const auto* steps = llvm::dyn_cast<llvm::SCEVAddRecExpr>(address);
    if (!steps || steps->getLoop() != loop) return true;
    address = steps->getStart();
  }
  return true;
}

// The bytes that a thread stores in this block less than a cache line from the store, with its own.
uint64_t bytes_stored_near(const llvm::StoreInst& store, const llvm::DataLayout& layout) {
  const auto place_of = [&](const llvm::StoreInst& access) {
    int64_t offset = 0;
    const Value* base =
        llvm::GetPointerBaseWithConstantOffset(access.getPointerOperand(), offset, layout);
    return std::pair(base, offset);
  };
  const auto [base, offset] = place_of(store);
  uint64_t bytes = 0;
  for (const llvm::Instruction& instruction : *store.getParent()) {
    const auto* other = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (!other) continue;
    const auto [other_base, other_offset] = place_of(*other);
    if (other_base == base && std::abs(other_offset - offset) < int64_t{kCacheLine})
      bytes += layout.getTypeStoreSize(other->getValueOperand()->getType());
  }
  return bytes;
}

}  // namespace

void mark_nontemporal_stores(llvm::Function& body, llvm::FunctionAnalysisManager& analyses,
                             uint64_t least_bytes) {
  const llvm::DataLayout& layout = body.getParent()->getDataLayout();
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(body);
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(body);
  const llvm::DenseSet<const Value*> read = find_read_objects(body, loops);
  for (llvm::Instruction& instruction : llvm::instructions(body)) {
    auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (!store || !store->isSimple() || !is_device_memory(store->getPointerOperand())) continue;
    if (least_bytes > 1 && bytes_stored_near(*store, layout) < least_bytes) continue;
    const Objects objects = objects_of(store->getPointerOperand(), loops);
    if (llvm::any_of(objects, [&](const Value* object) { return read.contains(object); })) continue;
    if (moves_in_loops(*store, loops, evolution))
      store->setMetadata(kNontemporal, llvm::MDNode::get(body.getContext(), {}));
  }
}

bool is_nontemporal(const llvm::StoreInst& store) { return store.hasMetadata(kNontemporal); }

void store_halves_as_bits(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      if (!store || !store->hasMetadata(llvm::LLVMContext::MD_nontemporal)) continue;
      const llvm::Type* type = store->getValueOperand()->getType();
      if (type->isVectorTy() && type->getScalarType()->isHalfTy())
        store->setOperand(0, bits_of(store->getValueOperand(), *store));
    }
  }
}

}  // namespace metal::cpu
