#include "metal/cpu/vectorizer/float_atomics.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "metal/cpu/lower.h"

namespace metal::cpu {

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

void lock_float_adds(llvm::Function& body) {
  if (!adds_floats_only(body)) return;
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(body))) {
    auto* operation = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
    if (!operation || !is_float_add(*operation)) continue;
    llvm::IRBuilder<> builder(operation);
    operation->replaceAllUsesWith(call_locked_add(
        builder, body.getArg(0), operation->getPointerOperand(), operation->getValOperand()));
    operation->eraseFromParent();
  }
}

}  // namespace metal::cpu
