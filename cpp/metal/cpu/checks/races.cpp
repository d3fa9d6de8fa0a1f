#include "metal/cpu/checks/races.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace metal::cpu {

void check_races(CheckBuilder& builder, Provenances& provenances,
                 const std::vector<Access>& accesses) {
  for (const Access& access : accesses) {
    if (!is_shared(*access.written)) continue;
    const Provenance object = provenances.of(access.written);
    llvm::IRBuilder<> b(access.instruction);
    llvm::Value* address = b.CreatePtrToInt(access.pointer->get(), b.getInt64Ty());
    llvm::Value* bytes = bytes_of(b, access);
    if (access.kind == AccessKind::Write) {
      builder.call(b, "metal_cpu_check_overwrite", b.getVoidTy(),
                   {object.object, b.CreateIntToPtr(address, b.getPtrTy()), bytes});
      b.SetInsertPoint(access.instruction->getNextNode());
    }
    builder.call(b, "metal_cpu_check_access", b.getVoidTy(),
                 {builder.site(access_location(*access.instruction, *access.written)),
                  object.object, object.begin, address, bytes, builder.access(access.kind)});
  }
  std::vector<llvm::FenceInst*> fences;
  for (llvm::Instruction& instruction : llvm::instructions(builder.kernel())) {
    if (auto* fence = llvm::dyn_cast<llvm::FenceInst>(&instruction)) fences.push_back(fence);
  }
  for (llvm::FenceInst* fence : fences) {
    llvm::IRBuilder<> b(fence);
    builder.call(b, "metal_cpu_check_fence", b.getVoidTy(), {});
  }
}

}  // namespace metal::cpu
