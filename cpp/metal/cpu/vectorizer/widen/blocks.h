// Builds a vector from elements of other vectors, as processors shuffle only two vectors at a time.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"

namespace metal::cpu {

constexpr int64_t kBlockBytes = 16;   // every processor shuffles blocks of this size in any order
constexpr int64_t kWidestStride = 8;  // elements; larger strides are not read as one block

struct BlockElement {
  llvm::Value* block;  // all of these vectors have one size
  int element;
};

// Takes at most as many elements as a block has.
llvm::Value* assemble(llvm::IRBuilder<>& builder, llvm::ArrayRef<BlockElement> elements);

// The columns of square matrices, which stand side by side in the rows. The number of rows is a
// power of two.
llvm::SmallVector<llvm::Value*> transpose(llvm::IRBuilder<>& builder,
                                          llvm::ArrayRef<llvm::Value*> rows);

}  // namespace metal::cpu
