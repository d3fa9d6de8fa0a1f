// Queues products of matrices until they are computed as blocks.
#pragma once

#include "metal/cpu/vectorizer/matrix/block_product.h"

namespace metal::cpu {

// A factor of a product in memory.
struct Factor {
  llvm::Value* start = nullptr;
  FactorLayout layout;
  bool is_copy = true;  // in a variable of its own; otherwise in the kernel's memory
};

// sum += a * b
struct Product {
  llvm::Instruction* result;  // the instruction whose value is the sum
  Factor a, b;
  llvm::Value* sum;  // memory
};

// A queue of products that do not depend on each other, except by adding to the same sum. Products
// that share factors are computed as a block, together with later products for the same sums.
class ProductQueue {
 public:
  ProductQueue(const llvm::Function& like, const BlockLimits& limits)
      : like_(like), limits_(limits) {}

  void add(const Product& product) { products_.push_back(product); }
  bool adds_to(const llvm::Value* sum) const;
  bool computes(const llvm::Value* result) const;
  bool reads_memory_of_kernel() const;
  // Computes all products before an instruction.
  void flush(llvm::Instruction& before);

 private:
  bool are_alike(const Product& one, const Product& other) const;
  Product* next_of(const llvm::Value* sum);
  Product* find(const Product& like, const llvm::Value* a, const llvm::Value* b);
  BlockProduct block_with(const Product& first);
  bool extend(const Product& like, BlockProduct& block);
  void remove(const BlockProduct& block);

  const llvm::Function& like_;
  const BlockLimits limits_;
  llvm::SmallVector<Product> products_;
};

}  // namespace metal::cpu
