#include "llvm/IR/Module.h"
#include "metal/compiler/kernel_form.h"
#include "metal/cuda/lower.h"

namespace metal::cuda {

void refuse_messages(const llvm::Module& module) {
  const llvm::Function* message = module.getFunction(compiler::kMessageCall);
  if (!message || message->use_empty()) return;
  throw CompileError(
      "error: messages of kernels (os_log, printf) are printed on CPUs only; the stream of mx.cpu "
      "runs the kernel there\n");
}

}  // namespace metal::cuda
