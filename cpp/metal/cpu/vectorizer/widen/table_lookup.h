// Elements of a vector by a vector of indices: what processors shuffle in registers, instead of
// gathers from memory.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/IRBuilder.h"

namespace metal::cpu {

class TableLookup {
 public:
  // For the processor that the function is compiled for.
  explicit TableLookup(const llvm::Function& code);

  // The lanes of a register, and so the entries of a table; 0 if the processor has no such shuffle.
  unsigned lanes() const { return lanes_; }
  // So many entries of tables side by side are found faster than by gathers.
  uint64_t most_entries() const { return lanes_ == 16 ? 64 : 16; }

  // The entries of the tables at the indices, all vectors of i32. The number of tables is a power
  // of two. Indices behind the last table give any of the entries.
  llvm::Value* find(llvm::IRBuilder<>& b, llvm::ArrayRef<llvm::Value*> tables,
                    llvm::Value* index) const;

 private:
  unsigned lanes_ = 0;
};

}  // namespace metal::cpu
