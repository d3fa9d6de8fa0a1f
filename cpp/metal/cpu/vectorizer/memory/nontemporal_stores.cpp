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
#include "metal/cpu/cache_line.h"
#include "metal/cpu/codegen/lower.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/memory/buffers.h"

namespace metal::cpu {
namespace {

using llvm::Value;

using Objects = llvm::SmallVector<const Value*, 4>;

// Without poison, of which nothing is accessed.
Objects objects_of(const Value* pointer, llvm::LoopInfo& loops) {
  Objects objects;
  llvm::getUnderlyingObjects(pointer, objects, &loops);
  llvm::erase_if(objects, [](const Value* object) { return llvm::isa<llvm::UndefValue>(object); });
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

// What a thread stores, by block and base address: offsets and sizes in bytes.
class StoredBytes {
 public:
  explicit StoredBytes(llvm::Function& body) : layout_(body.getParent()->getDataLayout()) {
    for (const llvm::Instruction& instruction : llvm::instructions(body)) {
      const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      if (!store) continue;
      const auto [base, offset] = place_of(*store);
      parts_[base].push_back(
          {offset, layout_.getTypeStoreSize(store->getValueOperand()->getType())});
    }
  }

  // The bytes that are stored less than a cache line from the store, with its own.
  uint64_t near(const llvm::StoreInst& store) const {
    const auto [base, place] = place_of(store);
    uint64_t bytes = 0;
    for (const auto& [offset, size] : parts_.find(base)->second)
      if (std::abs(offset - place) < int64_t{kCacheLine}) bytes += size;
    return bytes;
  }

 private:
  using Base = std::pair<const llvm::BasicBlock*, const Value*>;

  std::pair<Base, int64_t> place_of(const llvm::StoreInst& store) const {
    int64_t offset = 0;
    const Value* base =
        llvm::GetPointerBaseWithConstantOffset(store.getPointerOperand(), offset, layout_);
    return {{store.getParent(), base}, offset};
  }

  const llvm::DataLayout& layout_;
  llvm::DenseMap<Base, llvm::SmallVector<std::pair<int64_t, uint64_t>, 1>> parts_;
};

}  // namespace

void mark_nontemporal_stores(llvm::Function& body, llvm::FunctionAnalysisManager& analyses,
                             uint64_t least_bytes) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(body);
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(body);
  const llvm::DenseSet<const Value*> read = find_read_objects(body, loops);
  const StoredBytes stored(body);
  for (llvm::Instruction& instruction : llvm::instructions(body)) {
    auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (!store || !store->isSimple() || !is_device_memory(store->getPointerOperand())) continue;
    if (stored.near(*store) < least_bytes) continue;
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
