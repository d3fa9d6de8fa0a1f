// Converts 8x8 matrices between two layouts: two elements in each lane of a SIMD-group, and row by
// row.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace metal::cpu {

// The lanes' first and second elements, vectors of 32 words.
struct LaneElements {
  llvm::Value* first;
  llvm::Value* second;
};

// Where a matrix lies in memory.
struct RowMemory {
  llvm::Value* start = nullptr;
  int64_t pitch = 0;  // bytes from row to row
};

// All eight rows, in vectors of 16 words.
llvm::SmallVector<llvm::Value*> rows_of_lanes(llvm::IRBuilder<>& b, const LaneElements& lanes);
// The lanes' first or second elements.
llvm::Value* lanes_of_rows(llvm::IRBuilder<>& b, llvm::ArrayRef<llvm::Value*> rows,
                           unsigned element);

// Where lanes loaded the matrix from, if its rows lie there. `loads` gets the instructions.
RowMemory find_rows(llvm::IRBuilder<>& b, const LaneElements& lanes,
                    llvm::SmallVectorImpl<llvm::LoadInst*>& loads);

}  // namespace metal::cpu
