// Finds the buffers of a kernel in which an address may lie.
#pragma once

#include <optional>

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Instructions.h"

namespace metal::cpu {

bool is_device_memory(const llvm::Value* address);

// A read of what nobody writes while the kernel runs.
bool reads_constants(const llvm::Instruction& instruction);

// A set of buffers. They are told apart by where the launch keeps their addresses.
class Buffers {
 public:
  explicit Buffers(llvm::LoopInfo& loops) : loops_(loops) {}

  void add(const llvm::Value* address);
  // All that the instruction may access.
  void add_operands(const llvm::Instruction& instruction);
  bool may_contain(const llvm::Value* address) const;

 private:
  // Null for what is not known.
  using Places = llvm::SmallVector<std::optional<int64_t>>;
  Places places_of(const llvm::Value* address) const;

  llvm::LoopInfo& loops_;
  llvm::DenseSet<int64_t> places_;
  bool any_ = false;
};

}  // namespace metal::cpu
