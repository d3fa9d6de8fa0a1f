#include "metal/cpu/vectorizer/fetch_ahead.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "metal/compiler/kernel_form.h"
#include "metal/cpu/lower.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;
using Set = llvm::SmallPtrSet<const Value*, 32>;

constexpr unsigned kMostInstructions = 256;  // of the function that fetches
constexpr auto kDeviceMemory = static_cast<unsigned>(AddressSpace::Device);

// What depends on any of `sources`, these included.
Set dependents(llvm::ArrayRef<const Instruction*> sources) {
  Set found;
  llvm::SmallVector<const Value*> work(sources.begin(), sources.end());
  while (!work.empty()) {
    const Value* value = work.pop_back_val();
    if (!found.insert(value).second) continue;
    work.append(value->user_begin(), value->user_end());
  }
  return found;
}

// The address of an access to memory that other threads may write; null for anything else.
Value* device_address(Instruction& instruction) {
  Value* address = llvm::getLoadStorePointerOperand(&instruction);
  if (auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
    address = atomic->getPointerOperand();
  if (!address || instruction.hasMetadata(llvm::LLVMContext::MD_invariant_load)) return nullptr;
  return address->getType()->getPointerAddressSpace() == kDeviceMemory ? address : nullptr;
}

bool is_lane_operation(const Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee && callee->getName().starts_with(compiler::kRuntimePrefix);
}

// Sorts out what the body does.
struct Plan {
  llvm::SmallVector<Instruction*> fetched;  // accesses at addresses that were read
  llvm::SmallVector<const Instruction*> dropped;
  Set unknown;  // what depends on the latter

  explicit Plan(llvm::Function& body) {
    llvm::SmallVector<const Instruction*> reads;
    for (Instruction& instruction : llvm::instructions(body)) {
      if (llvm::isa<llvm::LoadInst>(instruction) && device_address(instruction))
        reads.push_back(&instruction);
    }
    const Set read = dependents(reads);
    const llvm::DominatorTree dominators(body);
    const llvm::LoopInfo loops(dominators);
    for (Instruction& instruction : llvm::instructions(body)) {
      Value* address = device_address(instruction);
      const bool indirect = address && read.contains(address);
      if (indirect && !loops.getLoopFor(instruction.getParent())) fetched.push_back(&instruction);
      if (indirect || instruction.mayWriteToMemory() || is_lane_operation(instruction))
        dropped.push_back(&instruction);
    }
    // Nor does it read where it does not know.
    unknown = dependents(dropped);
    for (const Instruction& instruction : llvm::instructions(body)) {
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (load && unknown.contains(load->getPointerOperand()) && !llvm::is_contained(dropped, load))
        dropped.push_back(load);
    }
  }

  // No way depends on what the function does not know.
  bool ways_are_known(llvm::Function& body) const {
    return llvm::none_of(body, [&](const llvm::BasicBlock& block) {
      return block.getTerminator()->getNumSuccessors() > 1 &&
             unknown.contains(block.getTerminator());
    });
  }
};

void fetch(Instruction& access) {
  llvm::IRBuilder<> b(&access);
  Value* address = device_address(access);
  const bool writes = access.mayWriteToMemory();
  b.CreateIntrinsic(llvm::Intrinsic::prefetch, {address->getType()},
                    {address, b.getInt32(writes), b.getInt32(3), b.getInt32(1)});
}

}  // namespace

llvm::Function* clone_for_fetching(llvm::Function& body) {
  const Plan plan(body);
  if (plan.fetched.empty() || !plan.ways_are_known(body)) return nullptr;
  llvm::ValueToValueMapTy clones;
  llvm::Function* clone = llvm::CloneFunction(&body, clones);
  clone->setName(body.getName() + ".fetch");
  for (Instruction* access : plan.fetched) fetch(*llvm::cast<Instruction>(clones[access]));
  for (const Instruction* instruction : plan.dropped) {
    auto* copy = llvm::cast<Instruction>(clones[instruction]);
    if (!copy->getType()->isVoidTy())
      copy->replaceAllUsesWith(llvm::Constant::getNullValue(copy->getType()));
    copy->eraseFromParent();
  }
  return clone;
}

bool is_quick(llvm::Function& fetching) {
  const llvm::DominatorTree dominators(fetching);
  return llvm::LoopInfo(dominators).empty() && fetching.getInstructionCount() <= kMostInstructions;
}

bool fetches(const llvm::Function& wide) {
  return llvm::any_of(llvm::instructions(wide), [](const Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    return call && call->getIntrinsicID() == llvm::Intrinsic::prefetch;
  });
}

}  // namespace metal::cpu
