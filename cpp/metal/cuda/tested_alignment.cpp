#include <algorithm>
#include <map>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cuda/lower.h"

namespace metal::cuda {
namespace {

using llvm::Instruction;
using llvm::Value;

constexpr uint64_t kMostBytes = 16, kFewestBytes = 8;  // that a thread accesses at once
constexpr size_t kWindow = 64;  // accesses among which neighbours are looked for

// Loads, or stores, of a block whose elements lie side by side.
struct Neighbours {
  llvm::SmallVector<Instruction*, 8> by_address = {};
  int64_t first_offset =
      0;               // of by_address[0], in bytes from what the first one in the code accesses
  Instruction* first;  // in the code
  Instruction* last;
  uint64_t size;  // of an element in bytes

  uint64_t bytes() const { return by_address.size() * size; }
};

bool is_candidate(const Instruction& instruction) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
  if (!(load && load->isSimple()) && !(store && store->isSimple())) return false;
  const llvm::Type* type = instruction.getAccessType();
  const uint64_t bits = type->getPrimitiveSizeInBits();
  // Vectors of bytes would be put together in the thread's memory.
  return (type->isIntegerTy() || type->isFloatingPointTy()) && (bits == 16 || bits == 32) &&
         llvm::getLoadStorePointerOperand(&instruction)->getType()->getPointerAddressSpace() ==
             kGlobal;
}

// Accesses that may be made at the place of one of them. Nothing between loads writes memory.
// Between stores, there are only such ones as are known to write other bytes.
using Movable = llvm::SmallVector<Instruction*, 16>;

class NeighbourFinder {
 public:
  explicit NeighbourFinder(llvm::ScalarEvolution& evolution) : evolution_(evolution) {}

  llvm::SmallVector<Neighbours> find(llvm::Function& function) {
    for (llvm::BasicBlock& block : function) {
      Movable loads, stores;
      for (Instruction& instruction : block) {
        if (!instruction.mayReadOrWriteMemory()) continue;
        const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
        const bool is_one = is_candidate(instruction);
        if (!is_one || load) take(stores);
        if (!load || !load->isSimple()) take(loads);
        if (is_one && !load && !is_apart_from(stores, instruction)) take(stores);
        if (is_one) (load ? loads : stores).push_back(&instruction);
      }
      take(loads);
      take(stores);
    }
    return std::move(found_);
  }

 private:
  // Whether the store writes none of the elements of the others, and elements at multiples of their
  // size from them: stores to other addresses may be to the same ones.
  bool is_apart_from(const Movable& stores, const Instruction& store) {
    if (stores.size() >= kWindow) return false;
    const auto size = static_cast<int64_t>(element_size(store));
    return llvm::all_of(stores, [&](const Instruction* other) {
      const auto distance = distance_between(*other, store);
      return distance && *distance != 0 && *distance % size == 0;
    });
  }

  void take(Movable& accesses) {
    while (!accesses.empty()) take_near(accesses);
  }

  // Takes those that are a constant distance from the first one.
  void take_near(Movable& accesses) {
    std::map<int64_t, Instruction*> near;
    Instruction* const first = accesses.front();
    Movable others;
    for (const auto [place, access] : llvm::enumerate(accesses)) {
      const auto distance = place < kWindow ? distance_between(*first, *access) : std::nullopt;
      const bool is_new = distance && near.emplace(*distance, access).second;
      if (!is_new) others.push_back(access);
    }
    add_runs(near, element_size(*first));
    accesses = std::move(others);
  }

  static uint64_t element_size(const Instruction& access) {
    return access.getAccessType()->getPrimitiveSizeInBits() / 8;
  }

  std::optional<int64_t> distance_between(const Instruction& a, const Instruction& b) {
    if (a.getAccessType() != b.getAccessType()) return std::nullopt;
    const auto scev = [this](const Instruction& access) {
      return evolution_.getSCEV(const_cast<Value*>(llvm::getLoadStorePointerOperand(&access)));
    };
    const auto* distance =
        llvm::dyn_cast<llvm::SCEVConstant>(evolution_.getMinusSCEV(scev(b), scev(a)));
    return distance ? distance->getAPInt().trySExtValue() : std::nullopt;
  }

  void add_runs(const std::map<int64_t, Instruction*>& near, uint64_t size) {
    for (auto place = near.begin(); place != near.end();) {
      auto end = place;
      int64_t offset = place->first;
      while (end != near.end() && end->first == offset &&
             static_cast<uint64_t>(offset - place->first) < kMostBytes) {
        ++end;
        offset += static_cast<int64_t>(size);
      }
      auto length = static_cast<uint64_t>(std::distance(place, end));
      while (length * size != kMostBytes && length * size > kFewestBytes) --length;
      if (length * size < kFewestBytes) length = 1;
      end = std::next(place, static_cast<int64_t>(length));
      if (length > 1) add(place, end, size);
      place = end;
    }
  }

  void add(std::map<int64_t, Instruction*>::const_iterator begin,
           std::map<int64_t, Instruction*>::const_iterator end, uint64_t size) {
    Neighbours made{.first = begin->second, .last = begin->second, .size = size};
    int64_t offset_of_first = begin->first;
    for (auto place = begin; place != end; ++place) {
      Instruction* access = place->second;
      made.by_address.push_back(access);
      if (access->comesBefore(made.first)) {
        made.first = access;
        offset_of_first = place->first;
      }
      if (made.last->comesBefore(access)) made.last = access;
    }
    made.first_offset = begin->first - offset_of_first;
    // An access with the alignment that it needs becomes a part of a vector anyway.
    if (llvm::getLoadStoreAlignment(made.by_address[0]) < made.bytes())
      found_.push_back(std::move(made));
  }

  llvm::ScalarEvolution& evolution_;
  llvm::SmallVector<Neighbours> found_;
};

// Makes a test of the address before an instruction. In `aligned` and `apart`, code for both cases
// is to be inserted.
struct Test {
  Value* address;  // of the first element in memory
  Instruction *aligned, *apart;

  Test(const Neighbours& accesses, Instruction* before) {
    llvm::IRBuilder<> b(before);
    auto* start = const_cast<Value*>(llvm::getLoadStorePointerOperand(accesses.first));
    address =
        b.CreateConstGEP1_64(b.getInt8Ty(), start, static_cast<uint64_t>(accesses.first_offset));
    Value* low = b.CreateAnd(b.CreatePtrToInt(address, b.getInt64Ty()), accesses.bytes() - 1);
    llvm::SplitBlockAndInsertIfThenElse(b.CreateICmpEQ(low, b.getInt64(0)), before, &aligned,
                                        &apart);
  }
};

llvm::FixedVectorType* vector_of(const Neighbours& accesses) {
  return llvm::FixedVectorType::get(accesses.first->getAccessType(),
                                    static_cast<unsigned>(accesses.by_address.size()));
}

// The same instruction for an element `offset` bytes from the first one in memory.
Instruction* element_access(llvm::IRBuilder<>& b, const Instruction& access, Value* address,
                            uint64_t offset) {
  Instruction* copy = access.clone();
  const unsigned operand = llvm::isa<llvm::StoreInst>(access)
                               ? llvm::StoreInst::getPointerOperandIndex()
                               : llvm::LoadInst::getPointerOperandIndex();
  copy->setOperand(operand, b.CreateConstGEP1_64(b.getInt8Ty(), address, offset));
  return b.Insert(copy);
}

void load_together(const Neighbours& loads) {
  const Test test(loads, loads.first);
  llvm::IRBuilder<> aligned(test.aligned), apart(test.apart);
  llvm::LoadInst* vector =
      aligned.CreateAlignedLoad(vector_of(loads), test.address, llvm::Align(loads.bytes()));
  const auto is_invariant = [](const Instruction* load) {
    return load->hasMetadata(llvm::LLVMContext::MD_invariant_load);
  };
  if (llvm::all_of(loads.by_address, is_invariant))
    vector->copyMetadata(*loads.first, {llvm::LLVMContext::MD_invariant_load});
  llvm::IRBuilder<> after(loads.first->getParent(), loads.first->getParent()->begin());
  for (unsigned i = 0; i < loads.by_address.size(); ++i) {
    Instruction* load = loads.by_address[i];
    llvm::PHINode* value = after.CreatePHI(load->getType(), 2);
    value->addIncoming(aligned.CreateExtractElement(vector, i), test.aligned->getParent());
    value->addIncoming(element_access(apart, *load, test.address, i * loads.size),
                       test.apart->getParent());
    value->takeName(load);
    load->replaceAllUsesWith(value);
  }
  for (Instruction* load : loads.by_address) load->eraseFromParent();
}

void store_together(const Neighbours& stores) {
  const Test test(stores, stores.last);
  llvm::IRBuilder<> aligned(test.aligned), apart(test.apart);
  Value* vector = llvm::PoisonValue::get(vector_of(stores));
  for (unsigned i = 0; i < stores.by_address.size(); ++i) {
    auto* store = checked_cast<llvm::StoreInst>(stores.by_address[i]);
    vector = aligned.CreateInsertElement(vector, store->getValueOperand(), i);
    element_access(apart, *store, test.address, i * stores.size);
  }
  aligned.CreateAlignedStore(vector, test.address, llvm::Align(stores.bytes()));
  for (Instruction* store : stores.by_address) store->eraseFromParent();
}

// Lanes that part at a test might still be apart where the active lanes are asked for.
bool asks_for_active_lanes(llvm::Function& kernel) {
  return llvm::any_of(llvm::instructions(kernel), [](const Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    return call && call->getIntrinsicID() == llvm::Intrinsic::nvvm_activemask;
  });
}

}  // namespace

void test_alignment(llvm::Function& kernel, llvm::FunctionAnalysisManager& analyses) {
  if (asks_for_active_lanes(kernel)) return;
  NeighbourFinder finder(analyses.getResult<llvm::ScalarEvolutionAnalysis>(kernel));
  const auto found = finder.find(kernel);
  for (const Neighbours& accesses : found) {
    llvm::isa<llvm::LoadInst>(accesses.first) ? load_together(accesses) : store_together(accesses);
  }
  if (!found.empty()) analyses.invalidate(kernel, llvm::PreservedAnalyses::none());
}

}  // namespace metal::cuda
