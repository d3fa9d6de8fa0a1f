#include "metal/cpu/vectorizer/prefetch/prefetch_ahead.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/codegen/group_access.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/memory/buffers.h"
#include "metal/cpu/vectorizer/memory/nontemporal_stores.h"
#include "metal/cpu/vectorizer/prefetch/prefetch.h"
#include "metal/cpu/vectorizer/prefetch/stride_in_loop.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::LoadInst;
using llvm::Value;

constexpr uint64_t kIterations = 8;  // distance of the prefetch
constexpr uint64_t kNear = 256;      // bytes between iterations that processors follow
constexpr unsigned kMaxReads = 4;    // in a loop
constexpr uint64_t kPage = 4096;     // bytes

// Whether it reads device memory that may change.
bool reads_device_memory(const Instruction& instruction) {
  const auto* load = llvm::dyn_cast<LoadInst>(&instruction);
  return load && !reads_constants(*load) && is_device_memory(load->getPointerOperand());
}

// Inserts a prefetch at so many bytes after the address of a read.
llvm::CallInst* prefetch_behind(LoadInst& read, Value* bytes, Cache cache) {
  llvm::IRBuilder<> b(&read);
  return create_prefetch(b, b.CreateGEP(b.getInt8Ty(), read.getPointerOperand(), bytes), cache);
}

// ---- Iterations of a loop ----

bool is_far(const llvm::SCEV* stride) {
  const auto* known = llvm::dyn_cast<llvm::SCEVConstant>(stride);
  return !known || known->getAPInt().abs().uge(kNear);
}

bool prefetch_iterations(llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  StrideInLoop strides(loop, evolution);
  llvm::SmallVector<std::pair<LoadInst*, const llvm::SCEV*>> reads;
  for (llvm::BasicBlock* block : loop.blocks()) {
    for (Instruction& instruction : *block) {
      if (!reads_device_memory(instruction)) continue;
      auto* load = checked_cast<LoadInst>(&instruction);
      const llvm::SCEV* stride = strides.of(load->getPointerOperand());
      if (!stride || !is_far(stride) || reads.size() == kMaxReads) return false;
      reads.emplace_back(load, stride);
    }
  }
  const llvm::DataLayout& layout = loop.getHeader()->getModule()->getDataLayout();
  llvm::SCEVExpander expander(evolution, layout, "ahead");
  bool changed = false;
  for (const auto& [read, stride] : reads) {
    const llvm::SCEV* bytes =
        evolution.getMulExpr(stride, evolution.getConstant(stride->getType(), kIterations));
    if (!expander.isSafeToExpandAt(bytes, read)) continue;
    prefetch_behind(*read, expander.expandCodeFor(bytes, bytes->getType(), read), Cache::Second);
    changed = true;
  }
  return changed;
}

bool prefetch_iterations(llvm::Function& body, llvm::FunctionAnalysisManager& analyses) {
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(body);
  bool changed = false;
  for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(body).getLoopsInPreorder()) {
    const unsigned count = evolution.getSmallConstantTripCount(loop);
    const bool is_short = count != 0 && count <= kIterations;
    if (loop->isInnermost() && !is_short) changed |= prefetch_iterations(*loop, evolution);
  }
  return changed;
}

// ---- Streams ----

bool has_nontemporal_stores(const llvm::Function& body) {
  return llvm::any_of(llvm::instructions(body), [](const Instruction& instruction) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    return store && is_nontemporal(*store);
  });
}

// Whether an address depends on a value in memory, or on the quotients of an index. Then the next
// address cannot be predicted.
bool is_unpredictable(const Value* address) {
  llvm::SmallPtrSet<const Value*, 16> found;
  llvm::SmallVector<const Value*> work{address};
  while (!work.empty()) {
    const auto* instruction = llvm::dyn_cast<Instruction>(work.pop_back_val());
    if (!instruction || !found.insert(instruction).second) continue;
    if (llvm::isa<LoadInst>(instruction) && !reads_constants(*instruction)) return true;
    if (instruction->isIntDivRem()) return true;
    work.append(instruction->value_op_begin(), instruction->value_op_end());
  }
  return false;
}

// The distance of the prefetch: a page, or the distance to the address that the same thread of the
// threadgroup that runs next will read.
Value* bytes_to_next(LoadInst& read) {
  llvm::Function& body = *read.getFunction();
  llvm::IRBuilder<> b(&read);
  Value* threads = GroupAccess(b, body.getArg(kGroupArgument)).order_stride();
  const uint64_t size = body.getParent()->getDataLayout().getTypeStoreSize(read.getType());
  Value* next = b.CreateMul(threads, b.getInt64(size));
  return b.CreateSelect(b.CreateIsNull(threads), b.getInt64(kPage), next);
}

bool prefetch_streams(llvm::Function& body, const llvm::LoopInfo& loops) {
  if (!has_nontemporal_stores(body)) return false;
  llvm::SmallVector<LoadInst*> reads;
  llvm::SmallPtrSet<const Value*, 8> buffers;  // whose first read has been seen
  for (Instruction& instruction : llvm::instructions(body)) {
    if (!reads_device_memory(instruction) || loops.getLoopFor(instruction.getParent())) continue;
    auto* load = checked_cast<LoadInst>(&instruction);
    const Value* address = load->getPointerOperand();
    if (load->isSimple() && !is_unpredictable(address) &&
        buffers.insert(llvm::getUnderlyingObject(address)).second)
      reads.push_back(load);
  }
  for (LoadInst* read : reads) {
    prefetch_behind(*read, bytes_to_next(*read), Cache::First)
        ->setMetadata(kStream, llvm::MDNode::get(body.getContext(), {}));
  }
  return !reads.empty();
}

}  // namespace

llvm::PreservedAnalyses PrefetchAheadPass::run(llvm::Function& body,
                                               llvm::FunctionAnalysisManager& analyses) {
  bool changed = prefetch_iterations(body, analyses);
  changed |= prefetch_streams(body, analyses.getResult<llvm::LoopAnalysis>(body));
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

bool is_of_stream(const llvm::IntrinsicInst& prefetch) { return prefetch.hasMetadata(kStream); }

}  // namespace metal::cpu
