// Reads columns before the guards around them.
#pragma once

#include "llvm/IR/PassManager.h"

namespace metal::cpu {

// A guard at the edge of the data differs between gangs, so where gangs are jammed, they run what
// is behind it one after the other. A column (columns.h) moves up before the guard, where the
// neighbours of other gangs join it, if its memory can be read there: its address must be in
// threadgroup memory or its margin by what is known of its index without the guard.
void read_columns_early(llvm::Function& wide, llvm::FunctionAnalysisManager& analyses);

}  // namespace metal::cpu
