// Functions that multiply blocks of 8x8 matrices of floats which lie in memory row by row.
#pragma once

#include "llvm/IR/Function.h"
#include "metal/cpu/vectorizer/matrix/matrix_operations.h"

namespace llvm {
class TargetTransformInfo;
}

namespace metal::cpu {

inline constexpr int64_t kFloat = 4;       // bytes
inline constexpr int64_t kDenseStep = 32;  // bytes between the rows of a matrix without gaps

// What the registers of a processor have room for.
struct BlockLimits {
  unsigned side = 1;        // A beside each other, and B
  unsigned depth = 4;       // times that their products are added to the same sums
  bool holds_rows = false;  // a register takes a row, and inline assembly may say that it does
};
BlockLimits find_block_limits(const llvm::Function& code, const llvm::TargetTransformInfo& costs);

// How the elements of a factor lie behind its start.
struct FactorLayout {
  llvm::Value* step = nullptr;  // bytes from row to row as i64, or from column to column
  bool transposed = false;      // the elements of a column follow each other, not those of a row

  bool operator==(const FactorLayout&) const = default;
};

// Each of some A is multiplied with each of some B, and that some times over with other A and B for
// the same sums. Sums have no gaps.
struct BlockProduct {
  FactorLayout a, b;                        // of all A, and of all B
  llvm::SmallVector<llvm::Value*> factors;  // the A and the B of the first time, then the next
  llvm::SmallVector<llvm::Value*> sums;     // by A, then by B
  unsigned rows = 1;                        // A of one time
  unsigned columns = 1;                     // B of one time
};

// Adds the products to the sums. `like` has the attributes of the function that does it.
void create_block_product(llvm::IRBuilder<>& b, const BlockProduct& product,
                          const BlockLimits& limits, const llvm::Function& like);

}  // namespace metal::cpu
