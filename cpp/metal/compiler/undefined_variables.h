// Marks in the IR for variables that are declared without a value.
#pragma once

#include <string>

namespace llvm {
class CallInst;
class Instruction;
class Module;
}  // namespace llvm

namespace metal::compiler {

// Clang stores a pattern in such variables if CompileOptions::mark_undefined is set. Puts what
// is_undefined_value and is_undefined_memory know in the place of these stores, so that no
// optimisation can make use of them. Other code stays as it is.
void mark_undefined(llvm::Module& module);

// Whether its result stands for the value of a variable that has none, and the variable's name.
bool is_undefined_value(const llvm::Instruction& instruction);
// Whether it stands for a store of such values: to so many bytes (operand 1) at an address.
bool is_undefined_memory(const llvm::Instruction& instruction);
std::string undefined_variable(const llvm::CallInst& mark);

}  // namespace metal::compiler
