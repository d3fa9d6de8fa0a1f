#include "metal/cpu/vectorizer/prefetch/prefetch_streams.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "metal/cpu/codegen/group_access.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/memory/buffers.h"
#include "metal/cpu/vectorizer/memory/nontemporal_stores.h"
#include "metal/cpu/vectorizer/prefetch/prefetch.h"

namespace metal::cpu {
namespace {

constexpr uint64_t kPage = 4096;

bool has_nontemporal_stores(const llvm::Function& body) {
  return llvm::any_of(llvm::instructions(body), [](const llvm::Instruction& instruction) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    return store && is_nontemporal(*store);
  });
}

// Whether a place depends on what was read elsewhere, or on an index taken apart: then the next one
// may be anywhere.
bool leaps(const llvm::Value* address) {
  llvm::SmallPtrSet<const llvm::Value*, 16> found;
  llvm::SmallVector<const llvm::Value*> work{address};
  while (!work.empty()) {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(work.pop_back_val());
    if (!instruction || !found.insert(instruction).second) continue;
    if (llvm::isa<llvm::LoadInst>(instruction) && !reads_constants(*instruction)) return true;
    if (instruction->isIntDivRem()) return true;
    work.append(instruction->value_op_begin(), instruction->value_op_end());
  }
  return false;
}

// How far ahead of a value to prefetch: a page, or where the same thread of the threadgroup that
// runs next will read.
llvm::Value* bytes_ahead(llvm::IRBuilder<>& b, llvm::Function& body, llvm::Type* type) {
  llvm::Value* threads = GroupAccess(b, body.getArg(kGroupArgument)).order_stride();
  const uint64_t size = body.getParent()->getDataLayout().getTypeStoreSize(type);
  llvm::Value* visit = b.CreateMul(threads, b.getInt64(size));
  return b.CreateSelect(b.CreateIsNull(threads), b.getInt64(kPage), visit);
}

}  // namespace

void prefetch_streams(llvm::Function& body) {
  if (!has_nontemporal_stores(body)) return;
  const llvm::DominatorTree dominators(body);
  const llvm::LoopInfo loops(dominators);
  llvm::SmallPtrSet<const llvm::Value*, 8> buffers;  // of each, its first read
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(body))) {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (!load || !load->isSimple() || reads_constants(*load) || loops.getLoopFor(load->getParent()))
      continue;
    llvm::Value* address = load->getPointerOperand();
    if (!is_device_memory(address) || leaps(address) ||
        !buffers.insert(llvm::getUnderlyingObject(address)).second)
      continue;
    llvm::IRBuilder<> b(load);
    llvm::Value* ahead = bytes_ahead(b, body, load->getType());
    create_prefetch(b, b.CreateGEP(b.getInt8Ty(), address, ahead), Cache::First)
        ->setMetadata(kStream, llvm::MDNode::get(body.getContext(), {}));
  }
}

bool is_of_stream(const llvm::IntrinsicInst& prefetch) { return prefetch.hasMetadata(kStream); }

}  // namespace metal::cpu
