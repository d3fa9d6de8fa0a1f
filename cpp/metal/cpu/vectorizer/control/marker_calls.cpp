#include "metal/cpu/vectorizer/control/marker_calls.h"

#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"

namespace metal::cpu {

llvm::FunctionCallee declare_marker(llvm::Module& module, const char* name, llvm::Type* result,
                                    bool has_argument) {
  const llvm::SmallVector<llvm::Type*, 1> parameters(has_argument ? 1 : 0,
                                                     llvm::Type::getInt1Ty(module.getContext()));
  auto callee =
      module.getOrInsertFunction(name, llvm::FunctionType::get(result, parameters, false));
  auto* function = checked_cast<llvm::Function>(callee.getCallee());
  function->setDoesNotThrow();
  function->setWillReturn();
  if (!result->isVoidTy()) {
    function->setDoesNotAccessMemory();
    function->setSpeculatable();
  }
  return callee;
}

}  // namespace metal::cpu
