// Gives function constants their values.
#pragma once

#include <vector>

#include "metal/compiler/compiler.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace metal::compiler {

// Also computes the constants that depend on them. Throws std::invalid_argument where a value is
// missing or has another type than declared, CompileError where a constant cannot be computed.
void specialize(llvm::Module& module, const FunctionInfo& function, const ConstantValues& values);

// The functions that compute constants.
std::vector<llvm::Function*> initializers(const llvm::Module& module);

// For a look at kernels whose values nobody gave.
ConstantValues zero_constants(const FunctionInfo& function);

// A function constant that the source asks about with is_function_constant_defined needs no value.
bool needs_value(const llvm::Module& module, const FunctionConstantInfo& constant);

}  // namespace metal::compiler
