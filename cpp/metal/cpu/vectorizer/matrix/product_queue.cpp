#include "metal/cpu/vectorizer/matrix/product_queue.h"

#include "llvm/ADT/STLExtras.h"

namespace metal::cpu {

using llvm::Value;

bool ProductQueue::adds_to(const Value* sum) const {
  return llvm::any_of(products_, [&](const Product& product) { return product.sum == sum; });
}

bool ProductQueue::computes(const Value* result) const {
  return llvm::any_of(products_, [&](const Product& product) { return product.result == result; });
}

bool ProductQueue::reads_memory_of_kernel() const {
  return llvm::any_of(
      products_, [](const Product& product) { return !product.a.is_copy || !product.b.is_copy; });
}

void ProductQueue::flush(llvm::Instruction& before) {
  llvm::IRBuilder<> b(&before);
  while (!products_.empty()) {
    const Product first = products_[0];
    BlockProduct block = block_with(first);
    remove(block);
    for (unsigned times = 1; times < limits_.depth && extend(first, block); ++times) remove(block);
    create_block_product(b, block, limits_, like_);
  }
}

bool ProductQueue::are_alike(const Product& one, const Product& other) const {
  return one.a.layout == other.a.layout && one.b.layout == other.b.layout;
}

// The first product in the queue that adds to this sum, or null.
Product* ProductQueue::next_of(const Value* sum) {
  auto* found = llvm::find_if(products_, [&](const Product& one) { return one.sum == sum; });
  return found == products_.end() ? nullptr : found;
}

// A product of these factors that is the first in the queue to add to its sum, or null.
Product* ProductQueue::find(const Product& like, const Value* a, const Value* b) {
  for (Product& product : products_) {
    if (product.a.start == a && product.b.start == b && are_alike(product, like) &&
        next_of(product.sum) == &product)
      return &product;
  }
  return nullptr;
}

BlockProduct ProductQueue::block_with(const Product& first) {
  llvm::SmallVector<Value*> as, bs;
  for (const Product& product : products_) {
    if (bs.size() < limits_.side && !llvm::is_contained(bs, product.b.start) &&
        find(first, first.a.start, product.b.start))
      bs.push_back(product.b.start);
  }
  for (const Product& product : products_) {
    if (as.size() < limits_.side && !llvm::is_contained(as, product.a.start) &&
        llvm::all_of(bs, [&](Value* b) { return find(first, product.a.start, b); }))
      as.push_back(product.a.start);
  }
  BlockProduct block{.a = first.a.layout,
                     .b = first.b.layout,
                     .factors = {},
                     .sums = {},
                     .rows = static_cast<unsigned>(as.size()),
                     .columns = static_cast<unsigned>(bs.size())};
  block.factors.append(as);
  block.factors.append(bs);
  for (Value* a : as) {
    for (Value* b : bs) block.sums.push_back(find(first, a, b)->sum);
  }
  return block;
}

// Removes the products of a block from the queue.
void ProductQueue::remove(const BlockProduct& block) {
  for (const Value* sum : block.sums) products_.erase(next_of(sum));
}

// Extends the block by the next products for the same sums. False unless those form a block as
// well.
bool ProductQueue::extend(const Product& like, BlockProduct& block) {
  llvm::SmallVector<Value*> factors(block.rows + block.columns, nullptr);
  for (unsigned row = 0; row < block.rows; ++row) {
    for (unsigned column = 0; column < block.columns; ++column) {
      const Product* product = next_of(block.sums[row * block.columns + column]);
      if (!product || !are_alike(*product, like)) return false;
      Value*& a = factors[row];
      Value*& b = factors[block.rows + column];
      if (column == 0) a = product->a.start;
      if (row == 0) b = product->b.start;
      if (a != product->a.start || b != product->b.start) return false;
    }
  }
  block.factors.append(factors);
  return true;
}

}  // namespace metal::cpu
