#include "metal/cuda/lane_operations.h"

#include "llvm/IR/Instructions.h"
#include "metal/compiler/kernel_form.h"
#include "metal/cuda/warp_uniformity.h"

namespace metal::cuda {

llvm::StringRef operation_of(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  if (!callee || !callee->isDeclaration()) return "";
  llvm::StringRef name = callee->getName();
  return name.consume_front(compiler::kRuntimePrefix) ? name : "";
}

compiler::Convergence find_convergence(llvm::Function& kernel) {
  const auto waits = [](const llvm::BasicBlock& block) {
    return llvm::any_of(block, [](const llvm::Instruction& instruction) {
      const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      return call && call->isConvergent();
    });
  };
  return {kernel, find_warp_uniformity(kernel).info(), waits};
}

}  // namespace metal::cuda
