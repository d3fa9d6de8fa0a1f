// Reductions and scans across the lanes of a vector.
#pragma once

#include "metal/cpu/vectorizer/widen/widener.h"

namespace metal::cpu {

enum class LaneFold { Sum, Product, Min, Max, UnsignedMin, UnsignedMax, And, Or, Xor };

// The neutral element of the operation.
llvm::Constant* fold_identity(LaneFold fold, llvm::Type* type);
llvm::Value* fold_pair(llvm::IRBuilder<>& builder, LaneFold fold, llvm::Value* a, llvm::Value* b);

// Combines the lanes that run the block.
llvm::Value* fold_lanes(Widener& widener, LaneFold fold, llvm::Value* vector);
// Lane i gets the values of the active lanes before i combined, and its own if `inclusive`.
llvm::Value* scan_lanes(Widener& widener, LaneFold fold, llvm::Value* vector, bool inclusive);

}  // namespace metal::cpu
