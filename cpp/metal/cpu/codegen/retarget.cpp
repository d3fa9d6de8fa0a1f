// Gives code that is for no processor in particular the attributes of one.
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Target/TargetMachine.h"
#include "metal/cpu/codegen/lower.h"

namespace metal::cpu {
namespace {

bool is_fused(const llvm::Value* value) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(value);
  return call && call->getIntrinsicID() == llvm::Intrinsic::fma;
}

// Without such an instruction, a fast multiply-add becomes a product and a sum, and LLVM must not
// simplify them: code rounds numbers by adding a large number and subtracting it again.
void keep_fused(llvm::Instruction& instruction) {
  if (!llvm::isa<llvm::FPMathOperator>(instruction)) return;
  if (is_fused(&instruction) || llvm::any_of(instruction.operands(), is_fused))
    instruction.setHasAllowReassoc(false);
}

}  // namespace

void retarget(llvm::Module& module, const llvm::TargetMachine& target) {
  module.setTargetTriple(target.getTargetTriple().str());
  module.setDataLayout(target.createDataLayout());
  const bool has_fma =
      !target.getTargetTriple().isX86() || target.getTargetFeatureString().contains("+fma");
  for (llvm::Function& function : module) {
    function.setCallingConv(llvm::CallingConv::C);
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        call->setCallingConv(llvm::CallingConv::C);
      if (!has_fma) keep_fused(instruction);
    }
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-cpu", target.getTargetCPU());
    function.addFnAttr("target-features", target.getTargetFeatureString());
    function.addFnAttr("probe-stack", "inline-asm");  // frames must not skip the guard page
    function.removeFnAttr("min-legal-vector-width");
    function.removeFnAttr("tune-cpu");
  }
}

}  // namespace metal::cpu
