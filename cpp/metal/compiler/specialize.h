// Replaces function constants by their values.
#pragma once

#include <vector>

#include "metal/compiler/compiler.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace metal::compiler {

// Also computes the constants that depend on them. Throws std::invalid_argument if a value is
// missing or has another type than declared, and CompileError if a constant cannot be computed.
void specialize(llvm::Module& module, const FunctionInfo& function, const ConstantValues& values);

// The functions that compute constants.
std::vector<llvm::Function*> initializers(const llvm::Module& module);

// Zeros for all function constants, to show code without values for them.
ConstantValues zero_constants(const FunctionInfo& function);

// False if the source asks is_function_constant_defined for this constant.
bool needs_value(const llvm::Module& module, const FunctionConstantInfo& constant);

}  // namespace metal::compiler
