// Builds a vector from elements of other vectors. Processors shuffle two vectors at a time.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/IRBuilder.h"

namespace metal::cpu {

constexpr int64_t kBlockBytes = 16;  // what every processor shuffles freely

struct BlockElement {
  llvm::Value* block;  // a vector of one size for all
  int element;
};

// At most as many elements as a block has.
llvm::Value* assemble(llvm::IRBuilder<>& builder, llvm::ArrayRef<BlockElement> elements);

}  // namespace metal::cpu
