// A screen: vector code with quick tests, which leaves the kernel where something may be wrong.
// What is wrong, if anything, is then found out by exact checks (insert_checks.h).
#pragma once

#include "metal/checks.h"
#include "metal/compiler/compiler.h"

namespace llvm {
class Module;
}

namespace metal::cpu {

// In a kernel's module, in kernel form. A screen may suspect kernels that do nothing wrong, but
// lets none pass that exact checks would report.
void insert_screen(llvm::Module& module, const FunctionInfo& kernel, Checks checks);

}  // namespace metal::cpu
