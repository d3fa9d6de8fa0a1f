#include "metal/cpu/vectorizer/speculation.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "metal/compiler/compiler.h"
#include "metal/cpu/abi.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/runtime/memory.h"
#include "metal/cpu/vectorizer/memory/buffers.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;

// The bytes around the memory of a pointer that can be read; 0 if the pointer is not known to have
// a margin.
uint64_t margin_around(const Value* pointer) {
  switch (static_cast<AddressSpace>(pointer->getType()->getPointerAddressSpace())) {
    case AddressSpace::Device:
      return Heap::kMargin;
    case AddressSpace::Threadgroup:
      return kThreadgroupMargin;
    case AddressSpace::Constant: {
      // A buffer has a margin. A table of the program has none.
      llvm::SmallVector<const Value*> objects;
      llvm::getUnderlyingObjects(pointer, objects, nullptr, /*MaxLookup=*/0);
      return llvm::all_of(objects, is_buffer_start) ? Heap::kMargin : 0;
    }
    default:
      return 0;
  }
}

// Defines the results of bit counts of zero and of the absolute value of the smallest integer.
void define_special_cases(llvm::IntrinsicInst& call) {
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::ctlz:
    case llvm::Intrinsic::cttz:
    case llvm::Intrinsic::abs:
      call.setArgOperand(1, llvm::ConstantInt::getFalse(call.getContext()));
      break;
    default:
      break;
  }
}

void undo_guarded_form(Instruction& instruction) {
  llvm::IRBuilder<> b(&instruction);
  Value* plain = nullptr;
  if (const auto* either = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&instruction);
      either && either->isDisjoint()) {
    plain = b.CreateAdd(either->getOperand(0), either->getOperand(1), "", true, true);
  } else if (llvm::isa<llvm::ZExtInst>(instruction) && instruction.hasNonNeg()) {
    plain = b.CreateSExt(instruction.getOperand(0), instruction.getType());
  }
  if (!plain) return;
  plain->takeName(&instruction);
  instruction.replaceAllUsesWith(plain);
  instruction.eraseFromParent();
}

}  // namespace

bool is_speculatable(const Instruction& instruction) {
  if (llvm::isa<llvm::PHINode, llvm::AllocaInst>(instruction) || instruction.isTerminator())
    return true;
  return !instruction.mayReadOrWriteMemory() && llvm::isSafeToSpeculativelyExecute(&instruction);
}

bool has_effects(const Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (!call) return instruction.mayWriteToMemory();
  const llvm::Function* callee = call->getCalledFunction();
  return !call->doesNotAccessMemory() && !(callee && callee->getName() == kInside);
}

bool can_take_turns(const Instruction& instruction) {
  if (instruction.isAtomic() || instruction.isVolatile()) return false;
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  return !call || (!call->isConvergent() && !call->cannotDuplicate() && !has_effects(*call));
}

// Fast-math flags do not depend on branches, so they stay.
void forget_guards(Instruction& instruction) {
  const bool is_float = llvm::isa<llvm::FPMathOperator>(instruction);
  const llvm::FastMathFlags flags =
      is_float ? instruction.getFastMathFlags() : llvm::FastMathFlags();
  instruction.dropPoisonGeneratingAnnotations();
  if (is_float) instruction.copyFastMathFlags(flags);
  instruction.setMetadata(llvm::LLVMContext::MD_noundef, nullptr);
  if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) define_special_cases(*call);
}

void undo_guarded_forms(llvm::Function& body) {
  for (Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(body)))
    undo_guarded_form(instruction);
}

bool has_margins(const Value* pointer, Span span) {
  // The active lane's element may be at either end of the span.
  return static_cast<uint64_t>(span.end) - static_cast<uint64_t>(span.lowest) <=
         margin_around(pointer);
}

void set_copy_distance(llvm::AllocaInst& copies, uint64_t distance) {
  llvm::IRBuilder<> b(&copies);
  copies.setMetadata(
      kCopyDistance,
      llvm::MDNode::get(copies.getContext(), llvm::ConstantAsMetadata::get(b.getInt64(distance))));
}

std::optional<int64_t> copy_distance(const Value* pointer) {
  const auto* copies =
      llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer, /*MaxLookup=*/0));
  const llvm::MDNode* distance = copies ? copies->getMetadata(kCopyDistance) : nullptr;
  if (!distance) return std::nullopt;
  return llvm::mdconst::extract<llvm::ConstantInt>(distance->getOperand(0))->getSExtValue();
}

bool is_buffer_start(const Value* pointer) {
  while (const auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastOperator>(pointer))
    pointer = cast->getPointerOperand();
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(pointer);
  return load && reads_constants(*load) && load->getPointerAddressSpace() == 0;
}

}  // namespace metal::cpu
