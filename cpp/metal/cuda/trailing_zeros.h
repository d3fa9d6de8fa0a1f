// Which numbers and addresses are multiples of a power of two.
#pragma once

#include "llvm/ADT/DenseMap.h"

namespace llvm {
class DataLayout;
class Function;
class Instruction;
class Value;
}  // namespace llvm

namespace metal::cuda {

// The low bits of a function's integers and pointers that are zero whatever path the code takes.
// LLVM's own analyses follow few steps, and stop at a pointer that a branch in a loop moves.
class TrailingZeros {
 public:
  explicit TrailingZeros(const llvm::Function& function);

  // At most kMost.
  unsigned of(const llvm::Value& value) const;
  bool is_multiple(const llvm::Value& value, uint64_t power_of_two) const;

  static constexpr unsigned kMost = 16;

 private:
  bool update(const llvm::Instruction& instruction);
  unsigned of_result(const llvm::Instruction& instruction) const;
  unsigned of_operands(const llvm::Instruction& instruction) const;
  unsigned of_address(const llvm::Instruction& address) const;

  const llvm::DataLayout& layout_;
  llvm::DenseMap<const llvm::Value*, unsigned> zeros_;  // of instructions
};

}  // namespace metal::cuda
