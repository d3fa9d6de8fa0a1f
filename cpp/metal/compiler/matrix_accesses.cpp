#include "metal/compiler/matrix_accesses.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/kernel_form.h"

namespace metal::compiler {
namespace {

bool loads_matrix(const llvm::Function& function) {
  llvm::StringRef name = function.getName();
  return name.consume_front(kRuntimePrefix) && name.starts_with("simdgroup_load_");
}

bool stores_matrix(const llvm::Function& function) {
  llvm::StringRef name = function.getName();
  return name.consume_front(kRuntimePrefix) && name.starts_with("simdgroup_store_");
}

}  // namespace

bool is_matrix_access(const llvm::Function& function) {
  return loads_matrix(function) || stores_matrix(function);
}

bool is_matrix_access(const llvm::CallInst& call) {
  const llvm::Function* callee = call.getCalledFunction();
  return callee && is_matrix_access(*callee);
}

void keep_matrix_access(llvm::Function& function) {
  function.removeFnAttr(llvm::Attribute::AlwaysInline);
  function.addFnAttr(llvm::Attribute::NoInline);
  function.addFnAttr(llvm::Attribute::NoUnwind);
  function.addFnAttr(llvm::Attribute::WillReturn);
  function.addFnAttr(llvm::Attribute::NoSync);
  function.addFnAttr(llvm::Attribute::NoFree);
  function.addParamAttr(kMatrixPointer, llvm::Attribute::NoCapture);
  function.setMemoryEffects(llvm::MemoryEffects::argMemOnly(
      loads_matrix(function) ? llvm::ModRefInfo::Ref : llvm::ModRefInfo::Mod));
}

void inline_matrix_accesses(llvm::Module& module) {
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    if (!is_matrix_access(function) || function.isDeclaration()) continue;
    for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
      llvm::InlineFunctionInfo info;
      llvm::InlineFunction(*checked_cast<llvm::CallInst>(user), info);
    }
    function.eraseFromParent();
  }
}

}  // namespace metal::compiler
