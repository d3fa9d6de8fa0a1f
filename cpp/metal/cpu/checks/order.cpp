#include "metal/cpu/checks/order.h"

#include "llvm/IR/Instructions.h"

namespace metal::cpu {
namespace {

// The value that an atomic adds to a float, or subtracts from it, else null.
llvm::Value* float_addend(llvm::Instruction& instruction) {
  auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
  if (!update || !update->getType()->isFloatTy()) return nullptr;
  const auto operation = update->getOperation();
  const bool adds =
      operation == llvm::AtomicRMWInst::FAdd || operation == llvm::AtomicRMWInst::FSub;
  return adds ? update->getValOperand() : nullptr;
}

}  // namespace

void check_order(CheckBuilder& builder, const std::vector<Access>& accesses) {
  for (const Access& access : accesses) {
    if (access.kind == AccessKind::Read || access.kind == AccessKind::AtomicRead ||
        !is_shared(*access.written))
      continue;
    llvm::IRBuilder<> b(access.instruction);
    llvm::Value* place = address_of(b, access);
    if (llvm::Value* addend = float_addend(*access.instruction)) {
      builder.call(b, "metal_cpu_check_sum", b.getVoidTy(),
                   {place, addend, b.getInt1(!is_device(*access.written))});
    }
    if (!is_device(*access.written)) continue;
    builder.call(b, "metal_cpu_check_written", b.getVoidTy(),
                 {builder.site(access_location(*access.instruction, *access.written)), place,
                  bytes_of(b, access)});
  }
}

}  // namespace metal::cpu
