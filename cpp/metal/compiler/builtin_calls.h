// The calls that stand for built-in arguments in kernel form. Each device computes these arguments
// in its own way.
#pragma once

#include <optional>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "metal/compiler/attributes.h"

namespace metal::compiler {

// A call for one component of a built-in argument.
struct BuiltinCall {
  Builtin builtin;
  unsigned component;
};

// Nothing for other calls.
std::optional<BuiltinCall> as_builtin_call(const llvm::CallBase& call);

// Emits one component of a built-in argument.
using EmitBuiltin =
    llvm::function_ref<llvm::Value*(llvm::IRBuilder<>& builder, Builtin, unsigned component)>;

// Replaces these calls by the values. Components that an attribute does not have are 0.
void replace_builtins(llvm::Function& body, EmitBuiltin emit);

}  // namespace metal::compiler
