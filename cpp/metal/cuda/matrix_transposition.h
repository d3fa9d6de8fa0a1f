// Transposes a matrix of 16-bit elements that a warp holds.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace metal::cuda {

// Each lane has two elements, as 32 bits. All lanes must take part.
llvm::CallInst* create_matrix_transposition(llvm::IRBuilder<>& builder, llvm::Value* elements);
bool is_matrix_transposition(const llvm::Value* value);

}  // namespace metal::cuda
