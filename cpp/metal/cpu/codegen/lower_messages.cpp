#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/kernel_form.h"
#include "metal/cpu/codegen/lower.h"
#include "metal/cpu/markers.h"

namespace metal::cpu {
namespace {

constexpr unsigned kBeforeCount = 4;  // arguments: the type, and three texts

llvm::FunctionCallee runtime_function(llvm::Module& module, const llvm::FunctionType& message) {
  llvm::Type* number = llvm::Type::getInt32Ty(module.getContext());
  llvm::SmallVector<llvm::Type*> types(message.param_begin(), message.param_end());
  types.insert(types.begin() + kBeforeCount, 3, number);
  auto callee = module.getOrInsertFunction(
      kLogCall, llvm::FunctionType::get(message.getReturnType(), types, /*isVarArg=*/true));
  auto* function = checked_cast<llvm::Function>(callee.getCallee());
  function->setDoesNotThrow();
  // It reads constants only, so accesses to other memory may be moved across it.
  function->setMemoryEffects(llvm::MemoryEffects::inaccessibleOrArgMemOnly());
  return callee;
}

}  // namespace

void lower_messages(llvm::Module& module) {
  llvm::Function* message = module.getFunction(compiler::kMessageCall);
  if (!message) return;
  llvm::FunctionCallee runtime = runtime_function(module, *message->getFunctionType());
  for (llvm::User* user : llvm::make_early_inc_range(message->users())) {
    auto* call = checked_cast<llvm::CallInst>(user);
    llvm::IRBuilder<> b(call);
    const auto position = module.getOrInsertFunction(
        std::string(compiler::kBuiltinPrefix) + "thread_position_in_grid", b.getInt32Ty(),
        b.getInt32Ty());
    llvm::SmallVector<llvm::Value*> operands(call->args());
    for (unsigned i = 0; i < 3; ++i)
      operands.insert(operands.begin() + kBeforeCount + i, b.CreateCall(position, {b.getInt32(i)}));
    b.CreateCall(runtime, operands);
    call->eraseFromParent();
  }
  message->eraseFromParent();
}

}  // namespace metal::cpu
