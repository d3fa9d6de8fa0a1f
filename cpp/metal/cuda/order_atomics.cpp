#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "metal/cuda/lower.h"

namespace metal::cuda {
namespace {

void fence(llvm::Instruction* before) {
  llvm::IRBuilder<>(before).CreateIntrinsic(llvm::Intrinsic::nvvm_membar_gl, {}, {});
}

constexpr auto kRelaxed = llvm::AtomicOrdering::Monotonic;

// Makes the instruction relaxed. Returns whether it was stronger.
bool relax(llvm::Instruction& instruction) {
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    if (!llvm::isStrongerThan(load->getOrdering(), kRelaxed)) return false;
    load->setOrdering(kRelaxed);
  } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    if (!llvm::isStrongerThan(store->getOrdering(), kRelaxed)) return false;
    store->setOrdering(kRelaxed);
  } else if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
    if (!llvm::isStrongerThan(update->getOrdering(), kRelaxed)) return false;
    update->setOrdering(kRelaxed);
  } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    if (!llvm::isStrongerThan(exchange->getMergedOrdering(), kRelaxed)) return false;
    exchange->setSuccessOrdering(kRelaxed);
    exchange->setFailureOrdering(kRelaxed);
  } else {
    return false;
  }
  return true;
}

}  // namespace

void order_atomics(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      if (llvm::isa<llvm::FenceInst>(instruction)) {
        fence(&instruction);
        instruction.eraseFromParent();
      } else if (relax(instruction)) {
        fence(&instruction);
        fence(instruction.getNextNode());
      }
    }
  }
}

}  // namespace metal::cuda
