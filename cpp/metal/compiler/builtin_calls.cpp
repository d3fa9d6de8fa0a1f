#include "metal/compiler/builtin_calls.h"

#include "llvm/IR/InstIterator.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/kernel_form.h"

namespace metal::compiler {

std::optional<BuiltinCall> as_builtin_call(const llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  llvm::StringRef name = callee ? callee->getName() : "";
  if (!name.consume_front(kBuiltinPrefix)) return std::nullopt;
  const auto builtin = find_builtin(std::string_view(name));
  if (!builtin) return std::nullopt;
  const auto* component = checked_cast<llvm::ConstantInt>(call.getArgOperand(0));
  return BuiltinCall{*builtin, static_cast<unsigned>(component->getZExtValue())};
}

void replace_builtins(llvm::Function& body, EmitBuiltin emit) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(body))) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
    if (!callee) continue;
    llvm::IRBuilder<> builder(call);
    llvm::Value* value = builder.getInt32(0);
    if (callee->getName() == "__metal_thread_index_in_simdgroup") {
      value = emit(builder, Builtin::ThreadIndexInSimdgroup, 0);
    } else if (const auto found = as_builtin_call(*call)) {
      if (found->component < component_count(found->builtin))
        value = emit(builder, found->builtin, found->component);
    } else {
      continue;
    }
    call->replaceAllUsesWith(value);
    call->eraseFromParent();
  }
}

}  // namespace metal::compiler
