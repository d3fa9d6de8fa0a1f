#include "metal/cpu/vectorizer/control/phase_order.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/control/phases.h"
#include "metal/cpu/vectorizer/memory/buffers.h"

namespace metal::cpu {
namespace {

bool is_of_gang(const llvm::Value& address) {
  return llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(&address));
}

// The address is a vector if lanes read at several ones.
bool reads_device_memory(const llvm::IntrinsicInst& call) {
  const bool reads = call.getIntrinsicID() == llvm::Intrinsic::masked_load ||
                     call.getIntrinsicID() == llvm::Intrinsic::masked_gather;
  return reads && is_device_memory(call.getArgOperand(0));
}

// Marked operations write to threadgroup memory only, so reading other memory does no harm.
bool depends_on_order(const llvm::Instruction& instruction) {
  if (!instruction.mayReadOrWriteMemory() || instruction.hasMetadata(kCommuting) ||
      reads_constants(instruction))
    return false;
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    return !is_of_gang(*store->getPointerOperand());
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return !is_of_gang(*load->getPointerOperand()) && !is_device_memory(load->getPointerOperand());
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return !call || !(call->isAssumeLikeIntrinsic() || reads_device_memory(*call) ||
                    call->getIntrinsicID() == llvm::Intrinsic::prefetch);
}

}  // namespace

bool runs_in_any_order(const Phases& phases, const Phase& phase) {
  return llvm::none_of(phases.blocks(), [&](const auto& block) {
    return block.second == &phase && llvm::any_of(*block.first, depends_on_order);
  });
}

}  // namespace metal::cpu
