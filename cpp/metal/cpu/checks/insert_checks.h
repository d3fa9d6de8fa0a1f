// Code that checks itself: see metal/checks.h.
#pragma once

#include "metal/checks.h"
#include "metal/compiler/compiler.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace metal::cpu {

// In a kernel's module, in kernel form, while instructions know their lines: puts tests and calls
// of check_abi.h before what may go wrong. Functions that call themselves stay as they are.
void insert_checks(llvm::Module& module, const FunctionInfo& kernel, Checks checks);

// The body's own group argument takes the place of kGroupMarker.
void place_group(llvm::Function& body);

}  // namespace metal::cpu
