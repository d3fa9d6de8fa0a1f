// Completes the line tables of code that our passes have rewritten.
#pragma once

namespace llvm {
class Module;
}

namespace metal::compiler {

// Instructions tell their lines only in a function that has an entry in the line tables: functions
// made from a kernel's code get one. Does nothing for modules without line tables.
void complete_line_tables(llvm::Module& module);

}  // namespace metal::compiler
