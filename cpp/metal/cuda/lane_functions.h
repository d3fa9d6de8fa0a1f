// What SIMD-group functions are on a warp: functions of a value and of the mask of the lanes that
// take part, made in a module when they are first asked for, and inlined later.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace metal::cuda {

// The value of another lane, 32 or 64 bits; of an active one.
llvm::Value* create_shuffle(llvm::IRBuilder<>& builder, llvm::Value* mask, llvm::Value* value,
                            llvm::Value* lane);

// The function `name` (simd_sum_f32, simd_prefix_exclusive_sum_u64, ...): T(T value, i32 mask).
// Null if there is none of that name.
llvm::Function* lane_function(llvm::Module& module, llvm::StringRef name, llvm::Type* type);

}  // namespace metal::cuda
