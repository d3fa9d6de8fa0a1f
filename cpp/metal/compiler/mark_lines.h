// Marks of source lines, for coverage.
#pragma once

namespace llvm {
class Instruction;
class Module;
}  // namespace llvm

namespace metal::compiler {

// Before code is inlined and simplified: in every block, puts a call without effect at each of the
// user's lines in it. No step of LLVM removes these, nor the code that leads to them.
void mark_lines(llvm::Module& module);

bool is_line_mark(const llvm::Instruction& instruction);

}  // namespace metal::compiler
