// Products of matrices that wait to be computed together.
#pragma once

#include "metal/cpu/vectorizer/matrix/block_product.h"

namespace metal::cpu {

// Where a product finds a factor.
struct Factor {
  llvm::Value* start = nullptr;
  FactorLayout layout;
  bool is_copy = true;  // in a variable of its own; otherwise where the kernel has it
};

// sum += a * b
struct Product {
  llvm::Instruction* result;  // of which others may take the sum
  Factor a, b;
  llvm::Value* sum;  // memory
};

// Products of which none needs the result of another, except to add to it. Those that share an A or
// a B are computed together, and what is then added to their sums with them.
class ProductQueue {
 public:
  ProductQueue(const llvm::Function& like, const BlockLimits& limits)
      : like_(like), limits_(limits) {}

  void add(const Product& product) { products_.push_back(product); }
  bool adds_to(const llvm::Value* sum) const;
  bool computes(const llvm::Value* result) const;
  bool reads_memory_of_kernel() const;
  // Computes all of them before an instruction.
  void flush(llvm::Instruction& before);

 private:
  bool are_alike(const Product& one, const Product& other) const;
  Product* next_of(const llvm::Value* sum);
  Product* find(const Product& like, const llvm::Value* a, const llvm::Value* b);
  BlockProduct block_with(const Product& first);
  bool go_on(const Product& like, BlockProduct& block);
  void take(const BlockProduct& block);

  const llvm::Function& like_;
  const BlockLimits limits_;
  llvm::SmallVector<Product> products_;
};

}  // namespace metal::cpu
