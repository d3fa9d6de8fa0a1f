// Operations on whole 8x8 matrices in vector code: calls that passes can see through until they are
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

// Where a matrix lies in memory: element (row, column) at start + row * row_step +
// column * column_step. The steps are numbers of bytes as i64.
struct MatrixMemory {
  llvm::Value* start = nullptr;
  llvm::Value* row_step = nullptr;
  llvm::Value* column_step = nullptr;

  bool operator==(const MatrixMemory&) const = default;
};

llvm::FixedVectorType* matrix_type(llvm::Type* element);
// The type in which numbers of so many bits are loaded: words as floats, since most are.
llvm::Type* type_of_bits(llvm::IRBuilder<>& b, unsigned bits);
bool is_matrix(const llvm::Type* type);

llvm::CallInst* create_matrix_load(llvm::IRBuilder<>& b, llvm::Type* element,
                                   const MatrixMemory& memory);
void create_matrix_store(llvm::IRBuilder<>& b, llvm::Value* matrix, const MatrixMemory& memory);
// a * b + c
llvm::CallInst* create_matrix_multiply(llvm::IRBuilder<>& builder, llvm::Value* a, llvm::Value* b,
                                       llvm::Value* c);
// From the lanes' elements to a matrix, and back.
llvm::CallInst* create_rows(llvm::IRBuilder<>& b, const LaneElements& lanes);
LaneElements create_lanes(llvm::IRBuilder<>& b, llvm::Value* matrix);

// The call if the value is that operation, else null. The name is one of markers.h.
llvm::CallInst* matrix_operation(llvm::Value* value, llvm::StringRef name);
MatrixMemory memory_of(const llvm::CallInst& access);    // of a load or a store
unsigned element_of_lanes(const llvm::CallInst& lanes);  // 0: the first, 1: the second

// The first element of a lane; the second one is in the next column.
struct MatrixPlace {
  unsigned row;
  unsigned column;
};
MatrixPlace place_of_lane(unsigned lane);

// Which elements of the first and, behind them, the second ones make a matrix.
llvm::SmallVector<int> rows_mask();
// Which elements of a matrix are the lanes' first or second ones.
llvm::SmallVector<int> lanes_mask(unsigned element);

}  // namespace metal::cpu
