// Finds and makes the calls at which all threads of a threadgroup wait for each other.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace metal::compiler {

bool is_threadgroup_barrier(const llvm::Instruction& instruction);

// What was written to threadgroup memory before it is seen behind it.
llvm::CallInst* create_threadgroup_barrier(llvm::IRBuilder<>& builder);

}  // namespace metal::compiler
