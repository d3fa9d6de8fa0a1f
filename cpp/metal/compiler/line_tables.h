// Completes the line tables of code that our passes have rewritten.
#pragma once

namespace llvm {
class Module;
}

namespace metal::compiler {

// Instructions have source lines only in a function that has an entry in the line tables. This
// gives entries to functions that were made from a kernel's code. It does nothing for modules
// without line tables.
void complete_line_tables(llvm::Module& module);

}  // namespace metal::compiler
