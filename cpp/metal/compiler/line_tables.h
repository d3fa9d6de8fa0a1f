// The line tables of code: the user's part of them, and what our passes have rewritten.
#pragma once

namespace llvm {
class DILocation;
class Module;
}  // namespace llvm

namespace metal::compiler {

// Instructions have source lines only in a function that has an entry in the line tables. This
// gives entries to functions that were made from a kernel's code. It does nothing for modules
// without line tables. Of code that was inlined the line where it was written counts, or the last
// one of the user's on the way there.
enum class LinesOf { Code, User };
void complete_line_tables(llvm::Module& module, LinesOf lines);

// The innermost place outside of the standard library, or null.
const llvm::DILocation* user_location(const llvm::DILocation* location);

}  // namespace metal::compiler
