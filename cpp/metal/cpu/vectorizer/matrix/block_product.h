// Makes functions that multiply blocks of 8x8 float matrices in memory.
#pragma once

#include "llvm/IR/Function.h"
#include "metal/cpu/vectorizer/matrix/matrix_operations.h"

namespace llvm {
class TargetTransformInfo;
}

namespace metal::cpu {

inline constexpr int64_t kFloat = 4;       // bytes
inline constexpr int64_t kDenseStep = 32;  // bytes between the rows of a matrix without gaps

// What fits into the registers of a processor.
struct BlockLimits {
  unsigned side = 1;        // how many A, and how many B, a block has
  unsigned depth = 4;       // how many products are added to one sum in a call
  bool holds_rows = false;  // a register holds a row, and inline assembly may state that
};
BlockLimits find_block_limits(const llvm::Function& code, const llvm::TargetTransformInfo& costs);

// The positions of a factor's elements, relative to its start.
struct FactorLayout {
  llvm::Value* step = nullptr;  // bytes between rows, or columns if transposed; i64
  bool transposed = false;      // the elements of a column are contiguous, not those of a row

  bool operator==(const FactorLayout&) const = default;
};

// Each of `rows` A is multiplied with each of `columns` B, and the products are added to the sums.
// This may repeat with other A and B for the same sums. Rows of sums are contiguous.
struct BlockProduct {
  FactorLayout a, b;                        // of all A, and of all B
  llvm::SmallVector<llvm::Value*> factors;  // the A and then the B of each repetition
  llvm::SmallVector<llvm::Value*> sums;     // by A, then by B
  unsigned rows = 1;                        // A in each repetition
  unsigned columns = 1;                     // B in each repetition
};

// Calls a function that adds the products to the sums. That function gets the attributes of `like`.
void create_block_product(llvm::IRBuilder<>& b, const BlockProduct& product,
                          const BlockLimits& limits, const llvm::Function& like);

}  // namespace metal::cpu
