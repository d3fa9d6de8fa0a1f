// Marks in the IR for calls of the math library, which inlining would make invisible.
#pragma once

#include <string>

namespace llvm {
class CallInst;
class DILocation;
class Function;
class Instruction;
class Module;
}  // namespace llvm

namespace metal::compiler {

// Before code is inlined: passes each float that the math library returns to other code through a
// call, together with the floats that it was computed from. The call gives its first operand.
void mark_math_calls(llvm::Module& module);

// Removes the marks from code that runs before the kernel does.
void drop_math_marks(llvm::Function& function);

bool is_math_mark(const llvm::Instruction& instruction);
// The function's name in the source: "exp".
std::string marked_function(const llvm::CallInst& mark);

// Whether code of this place computes a function of the math library.
bool is_inside_math(const llvm::DILocation* location);

}  // namespace metal::compiler
