#include "metal/compiler/barriers.h"

#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"

namespace metal::compiler {
namespace {

// Declared in stdlib/metal_compute: void (uint scope, uint flags).
constexpr const char* kBarrierFunction = "__metal_barrier";
constexpr uint32_t kThreadgroupScope = 1;
constexpr uint32_t kThreadgroupMemoryFlag = 2;

}  // namespace

bool is_threadgroup_barrier(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  if (!callee || callee->getName() != kBarrierFunction) return false;
  const auto* scope = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(0));
  return scope && scope->equalsInt(kThreadgroupScope);
}

llvm::CallInst* create_threadgroup_barrier(llvm::IRBuilder<>& builder) {
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  auto* barrier = checked_cast<llvm::Function>(
      module
          .getOrInsertFunction(kBarrierFunction, builder.getVoidTy(), builder.getInt32Ty(),
                               builder.getInt32Ty())
          .getCallee());
  barrier->setConvergent();
  barrier->setDoesNotThrow();
  llvm::CallInst* call = builder.CreateCall(
      barrier, {builder.getInt32(kThreadgroupScope), builder.getInt32(kThreadgroupMemoryFlag)});
  call->setCallingConv(barrier->getCallingConv());
  call->setAttributes(barrier->getAttributes());
  return call;
}

}  // namespace metal::compiler
