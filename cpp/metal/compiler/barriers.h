// Finds and creates threadgroup barriers, at which all threads of a threadgroup wait for each
// other.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace metal::compiler {

bool is_threadgroup_barrier(const llvm::Instruction& instruction);

// The barrier makes writes to threadgroup memory before it visible after it.
llvm::CallInst* create_threadgroup_barrier(llvm::IRBuilder<>& builder);

}  // namespace metal::compiler
