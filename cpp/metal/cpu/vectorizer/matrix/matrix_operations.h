// Operations on whole 8x8 matrices in vector code, as calls that passes can analyse until they are
// lowered.
//
// A matrix is a vector of 64 elements, row by row. The lanes of a SIMD-group hold it as two
// vectors: their first and their second elements.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace metal::cpu {

inline constexpr unsigned kMatrixSize = 8;  // rows, and columns
inline constexpr unsigned kMatrixElementCount = kMatrixSize * kMatrixSize;

// The lanes' first and second elements.
struct LaneElements {
  llvm::Value* first = nullptr;
  llvm::Value* second = nullptr;

  bool operator==(const LaneElements&) const = default;
};

// A matrix in memory: element (row, column) is at start + row * row_step + column * column_step.
// The steps are in bytes, as i64.
struct MatrixMemory {
  llvm::Value* start = nullptr;
  llvm::Value* row_step = nullptr;
  llvm::Value* column_step = nullptr;

  bool operator==(const MatrixMemory&) const = default;
};

llvm::FixedVectorType* matrix_type(llvm::Type* element);
// The type in which elements of so many bits are loaded. For 32 bits it is float, as most of them
// are floats.
llvm::Type* type_of_bits(llvm::IRBuilder<>& b, unsigned bits);
bool is_matrix(const llvm::Type* type);

llvm::CallInst* create_matrix_load(llvm::IRBuilder<>& b, llvm::Type* element,
                                   const MatrixMemory& memory);
void create_matrix_store(llvm::IRBuilder<>& b, llvm::Value* matrix, const MatrixMemory& memory);
// a * b + c
llvm::CallInst* create_matrix_multiply(llvm::IRBuilder<>& builder, llvm::Value* a, llvm::Value* b,
                                       llvm::Value* c);
// Convert lanes' elements to a matrix, and back.
llvm::CallInst* create_rows(llvm::IRBuilder<>& b, const LaneElements& lanes);
LaneElements create_lanes(llvm::IRBuilder<>& b, llvm::Value* matrix);

// The call, if the value is the operation with this name of markers.h; otherwise null.
llvm::CallInst* matrix_operation(llvm::Value* value, llvm::StringRef name);
MatrixMemory memory_of(const llvm::CallInst& access);    // of a load or a store
unsigned element_of_lanes(const llvm::CallInst& lanes);  // 0: the first, 1: the second

// The position of a lane's first element. The second one is in the next column.
struct MatrixPlace {
  unsigned row;
  unsigned column;
};
MatrixPlace place_of_lane(unsigned lane);

// The shuffle mask that makes a matrix of the first and the second elements.
llvm::SmallVector<int> rows_mask();
// The shuffle mask that extracts the lanes' first or second elements from a matrix.
llvm::SmallVector<int> lanes_mask(unsigned element);

}  // namespace metal::cpu
