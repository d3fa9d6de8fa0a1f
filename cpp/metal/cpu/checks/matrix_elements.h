// The elements of matrices: their type, and which lane has them.
#pragma once

#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "metal/compiler/matrix_calls.h"

namespace metal::cpu {

// Lanes load and store the elements of matrices as bits, whose type is that of the floats that they
// come from or become. Makes these accesses of floats, which checks of numbers look at.
void type_matrix_elements(std::vector<compiler::MatrixAccess>& matrices);

// The lane that has the element in this row and column, as its first one if the column is even.
llvm::Value* lane_of_element(llvm::IRBuilder<>& b, llvm::Value* row, llvm::Value* column);
// The place of a lane's first element. The second one is in the next column.
llvm::Value* row_of_lane(llvm::IRBuilder<>& b, llvm::Value* lane);
llvm::Value* column_of_lane(llvm::IRBuilder<>& b, llvm::Value* lane);

}  // namespace metal::cpu
