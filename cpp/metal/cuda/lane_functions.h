// Makes the functions that do SIMD-group functions on a warp. They take a value and the mask of the
// active lanes, are made at their first use in a module, and are inlined later.
#pragma once

#include "metal/cuda/lane_order.h"

namespace metal::cuda {

// The value of another lane, which must be active; 32 or 64 bits.
llvm::Value* create_shuffle(llvm::IRBuilder<>& builder, llvm::Value* mask, llvm::Value* value,
                            llvm::Value* lane);

// The function `name` (simd_sum_f32, simd_prefix_exclusive_sum_u64, ...): T(T value, i32 mask).
// Null if there is none with this name.
llvm::Function* lane_function(llvm::Module& module, llvm::StringRef name, llvm::Type* type,
                              LaneOrder order);

}  // namespace metal::cuda
