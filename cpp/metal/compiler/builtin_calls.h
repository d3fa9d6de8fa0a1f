// Built-in arguments in kernel form, which each device computes in its own way.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "metal/compiler/attributes.h"

namespace metal::compiler {

// Emits the value of a component that the attribute has.
using EmitBuiltin =
    llvm::function_ref<llvm::Value*(llvm::IRBuilder<>& builder, Builtin, unsigned component)>;

// Puts values in place of the calls that ask for them. Components that an attribute does not have
// are 0.
void replace_builtins(llvm::Function& body, EmitBuiltin emit);

}  // namespace metal::compiler
