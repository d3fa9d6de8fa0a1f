#include "metal/compiler/hardware_math.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "metal/compiler/checked_cast.h"

namespace metal::compiler {

bool is_hardware_math(const llvm::Function& function) {
  const auto names = {kHardwareExp, kHardwareExpOfHalf, kHardwareExpOfBfloat, kHardwareExpPrecise,
                      kHardwareLog2};
  return llvm::is_contained(names, function.getName());
}

void keep_hardware_math(llvm::Function& function) {
  function.removeFnAttr(llvm::Attribute::AlwaysInline);
  function.addFnAttr(llvm::Attribute::NoInline);
  function.setDoesNotAccessMemory();
  function.setDoesNotThrow();
  function.setNotConvergent();
  function.addFnAttr(llvm::Attribute::WillReturn);
  function.addFnAttr(llvm::Attribute::Speculatable);
}

void inline_hardware_math(llvm::Function& caller) {
  llvm::SmallVector<llvm::CallInst*> calls;
  for (llvm::Instruction& instruction : llvm::instructions(caller)) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
    if (callee && is_hardware_math(*callee) && !callee->isDeclaration()) calls.push_back(call);
  }
  for (llvm::CallInst* call : calls) {
    llvm::InlineFunctionInfo info;
    llvm::InlineFunction(*call, info);
  }
}

void inline_hardware_math(llvm::Module& module) {
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    if (!is_hardware_math(function) || function.isDeclaration()) continue;
    for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
      llvm::InlineFunctionInfo info;
      llvm::InlineFunction(*checked_cast<llvm::CallInst>(user), info);
    }
    function.eraseFromParent();
  }
}

}  // namespace metal::compiler
