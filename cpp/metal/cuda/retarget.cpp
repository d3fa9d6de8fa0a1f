#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "metal/cuda/lower.h"

namespace metal::cuda {

void retarget(llvm::Module& module, const llvm::TargetMachine& target) {
  module.setTargetTriple(target.getTargetTriple().str());
  module.setDataLayout(target.createDataLayout());
  for (llvm::Function& function : module) {
    function.setCallingConv(llvm::CallingConv::C);
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        call->setCallingConv(llvm::CallingConv::C);
    }
    for (const char* name : {"target-cpu", "target-features", "tune-cpu"})
      function.removeFnAttr(name);
  }
}

}  // namespace metal::cuda
