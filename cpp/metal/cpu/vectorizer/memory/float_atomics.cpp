#include "metal/cpu/vectorizer/memory/float_atomics.h"

#include <optional>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/codegen/group_access.h"
#include "metal/cpu/codegen/lower.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/memory/buffers.h"

namespace metal::cpu {
namespace {

constexpr size_t kRowSize = sizeof(Additions::addends[0]);

bool is_unused_addition(const llvm::AtomicRMWInst& operation) {
  return is_float_add(operation) && operation.use_empty();
}

// The buffers that the body uses in other ways. None are returned if they are not known or if the
// body orders its accesses.
std::optional<Buffers> otherwise_used_buffers(const llvm::Function& body, llvm::LoopInfo& loops) {
  Buffers buffers(loops);
  for (const llvm::Instruction& instruction : llvm::instructions(body)) {
    if (!instruction.mayReadOrWriteMemory() || reads_constants(instruction)) continue;
    if (llvm::isa<llvm::FenceInst>(instruction)) return std::nullopt;
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (call && (!call->getCalledFunction() || !call->getCalledFunction()->isDeclaration()))
      return std::nullopt;
    const auto* operation = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
    if (!operation || !is_unused_addition(*operation)) buffers.add_operands(instruction);
  }
  return buffers;
}

// Appends additions to a list of deferred ones.
class DeferredList {
 public:
  // The offsets are those of the list's length and of the length of a full list.
  DeferredList(llvm::IRBuilder<>& builder, llvm::Value* group, size_t count, size_t full)
      : b_(builder),
        group_(group),
        additions_(GroupAccess(builder, group).additions()),
        count_place_(b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), additions_, count)),
        count_(b_.CreateLoad(b_.getInt32Ty(), count_place_, "waiting")),
        full_(b_.CreateLoad(b_.getInt32Ty(),
                            b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), additions_, full))) {}

  // Stores what belongs to the `i`-th new entry and perhaps to those behind it.
  void store(llvm::Value* value, size_t array, size_t size, unsigned i = 0) {
    if (value->getType()->isPtrOrPtrVectorTy())
      value = b_.CreateAddrSpaceCast(value, value->getType()->getWithNewType(b_.getPtrTy()));
    llvm::Value* start =
        b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), additions_, array + i * size);
    llvm::Value* place = b_.CreateInBoundsGEP(llvm::ArrayType::get(b_.getInt8Ty(), size), start,
                                              b_.CreateZExt(count_, b_.getInt64Ty()));
    b_.CreateAlignedStore(value, place, llvm::Align(size == kRowSize ? 64 : 4));
  }

  void finish(unsigned added = 1) {
    llvm::Value* count = b_.CreateAdd(count_, b_.getInt32(added));
    b_.CreateStore(count, count_place_);
    llvm::Function* function = b_.GetInsertBlock()->getParent();
    auto* full = llvm::BasicBlock::Create(b_.getContext(), "full", function);
    auto* next = llvm::BasicBlock::Create(b_.getContext(), "waits", function);
    b_.CreateCondBr(b_.CreateICmpUGE(count, full_), full, next,
                    llvm::MDBuilder(b_.getContext()).createUnlikelyBranchWeights());
    b_.SetInsertPoint(full);
    auto callee = function->getParent()->getOrInsertFunction(
        "metal_cpu_make_additions",
        llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy()}, false));
    b_.CreateCall(callee, {group_})->addFnAttr(llvm::Attribute::Cold);
    b_.CreateBr(next);
    b_.SetInsertPoint(next);
  }

 private:
  llvm::IRBuilder<>& b_;
  llvm::Value* group_;
  llvm::Value* additions_;
  llvm::Value* count_place_;
  llvm::Value* count_;
  llvm::Value* full_;
};

DeferredList list_of_scalars(llvm::IRBuilder<>& builder, llvm::Value* group) {
  return {builder, group, offsetof(Additions, scalars), offsetof(Additions, full_scalars)};
}

}  // namespace

bool is_float_add(const llvm::AtomicRMWInst& operation) {
  return operation.getOperation() == llvm::AtomicRMWInst::FAdd &&
         operation.getType()->isFloatTy() &&
         operation.getPointerAddressSpace() != kThreadgroupMemory;
}

bool adds_floats_only(llvm::Function& body) {
  bool any = false;
  for (const llvm::Instruction& instruction : llvm::instructions(body)) {
    if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
      if (exchange->getPointerAddressSpace() != kThreadgroupMemory) return false;
    } else if (const auto* operation = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
      if (operation->getPointerAddressSpace() == kThreadgroupMemory) continue;
      if (!is_float_add(*operation)) return false;
      any = true;
    }
  }
  return any;
}

llvm::Value* call_locked_add(llvm::IRBuilder<>& b, llvm::Value* group, llvm::Value* pointer,
                             llvm::Value* value) {
  auto callee = b.GetInsertBlock()->getModule()->getOrInsertFunction(
      "metal_cpu_atomic_add_f32",
      llvm::FunctionType::get(b.getFloatTy(), {b.getPtrTy(), b.getPtrTy(), b.getFloatTy()}, false));
  return b.CreateCall(callee, {group, b.CreateAddrSpaceCast(pointer, b.getPtrTy()), value});
}

void mark_deferred_additions(llvm::Function& body) {
  if (!adds_floats_only(body)) return;
  const llvm::DominatorTree dominators(body);
  llvm::LoopInfo loops(dominators);
  const std::optional<Buffers> others = otherwise_used_buffers(body, loops);
  if (!others) return;
  for (llvm::Instruction& instruction : llvm::instructions(body)) {
    auto* operation = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
    if (operation && is_unused_addition(*operation) &&
        !others->may_contain(operation->getPointerOperand()))
      operation->setMetadata(kDeferred, llvm::MDNode::get(body.getContext(), {}));
  }
}

bool is_deferred(const llvm::AtomicRMWInst& operation) { return operation.hasMetadata(kDeferred); }

void defer_addition(llvm::IRBuilder<>& b, llvm::Value* group, llvm::Value* pointer,
                    llvm::Value* value) {
  DeferredList waiting = list_of_scalars(b, group);
  waiting.store(pointer, offsetof(Additions, place), sizeof(float*));
  waiting.store(value, offsetof(Additions, value), sizeof(float));
  waiting.finish();
}

void defer_lanes(llvm::IRBuilder<>& b, llvm::Value* group, llvm::ArrayRef<llvm::Value*> pointers,
                 llvm::Value* values) {
  DeferredList waiting = list_of_scalars(b, group);
  unsigned lanes = 0;
  for (llvm::Value* pointer : pointers) {
    waiting.store(pointer, offsetof(Additions, place), sizeof(float*), lanes);
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(pointer->getType());
    lanes += vector ? vector->getNumElements() : 1;
  }
  waiting.store(values, offsetof(Additions, value), sizeof(float));
  waiting.finish(lanes);
}

void defer_row(llvm::IRBuilder<>& b, llvm::Value* group, llvm::Value* row, llvm::Value* addends) {
  const auto lanes = checked_cast<llvm::FixedVectorType>(addends->getType())->getNumElements();
  for (unsigned first = 0; first < lanes; first += Additions::kRow) {
    llvm::Value* part =
        b.CreateShuffleVector(addends, llvm::createSequentialMask(first, Additions::kRow, 0));
    DeferredList waiting(b, group, offsetof(Additions, rows), offsetof(Additions, full_rows));
    waiting.store(b.CreateConstGEP1_32(b.getFloatTy(), row, first), offsetof(Additions, row),
                  sizeof(float*));
    waiting.store(part, offsetof(Additions, addends), kRowSize);
    waiting.finish();
  }
}

void lock_float_adds(llvm::Function& body) {
  if (!adds_floats_only(body)) return;
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(body))) {
    auto* operation = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
    if (!operation || !is_float_add(*operation)) continue;
    llvm::IRBuilder<> builder(operation);
    operation->replaceAllUsesWith(call_locked_add(builder, body.getArg(kGroupArgument),
                                                  operation->getPointerOperand(),
                                                  operation->getValOperand()));
    operation->eraseFromParent();
  }
}

}  // namespace metal::cpu
