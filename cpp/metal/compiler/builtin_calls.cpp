#include "metal/compiler/builtin_calls.h"

#include "llvm/IR/InstIterator.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/kernel_form.h"

namespace metal::compiler {

void replace_builtins(llvm::Function& body, EmitBuiltin emit) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(body))) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
    if (!callee) continue;
    llvm::StringRef name = callee->getName();
    llvm::IRBuilder<> builder(call);
    llvm::Value* value = builder.getInt32(0);
    if (name == "__metal_thread_index_in_simdgroup") {
      value = emit(builder, Builtin::ThreadIndexInSimdgroup, 0);
    } else if (name.consume_front(kBuiltinPrefix)) {
      const Builtin builtin = *find_builtin(std::string_view(name));
      const auto component =
          checked_cast<llvm::ConstantInt>(call->getArgOperand(0))->getZExtValue();
      if (component < component_count(builtin))
        value = emit(builder, builtin, static_cast<unsigned>(component));
    } else {
      continue;
    }
    call->replaceAllUsesWith(value);
    call->eraseFromParent();
  }
}

}  // namespace metal::compiler
