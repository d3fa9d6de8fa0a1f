// Makes sums of bitwise ors.
#pragma once

#include "llvm/IR/PassManager.h"

namespace metal::cpu {

// LLVM writes sums as bitwise ors if no bit is set in both numbers. If it has lost the note of
// that, other analyses do not see a sum in `thread * 128 | i`. This finds it again, also where only
// the range of a loop's index shows it.
void restore_sums(llvm::Function& body, llvm::FunctionAnalysisManager& analyses);

}  // namespace metal::cpu
