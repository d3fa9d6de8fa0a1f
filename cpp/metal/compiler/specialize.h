// Gives function constants their values.
#pragma once

#include "metal/compiler/compiler.h"

namespace llvm {
class Module;
}

namespace metal::compiler {

// Throws std::invalid_argument where a value is missing or has another type than declared.
void specialize(llvm::Module& module, const FunctionInfo& function, const ConstantValues& values);

}  // namespace metal::compiler
