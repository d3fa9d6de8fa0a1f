// Finds out what an address points into: which memory, which buffers of a kernel.
#pragma once

#include <optional>
#include <utility>

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Instructions.h"

namespace metal::cpu {

bool is_device_memory(const llvm::Value* address);

// Whether it is a load of memory that nothing writes while the kernel runs.
bool reads_constants(const llvm::Instruction& instruction);

// Splits an address into another one and a constant number of bytes.
std::pair<llvm::Value*, int64_t> split_constant(llvm::Value* pointer,
                                                const llvm::DataLayout& layout);

// If the value is a member of the struct Group (abi.h) that the group argument points to, where in
// the struct it is, in bytes.
std::optional<int64_t> group_member(const llvm::Value* value);

// A set of buffers. A buffer is identified by the field of the launch that holds its address.
class Buffers {
 public:
  explicit Buffers(llvm::LoopInfo& loops) : loops_(loops) {}

  void add(const llvm::Value* address);
  // Adds all buffers that the instruction may access.
  void add_operands(const llvm::Instruction& instruction);
  bool may_contain(const llvm::Value* address) const;
  // The one buffer that the address points into, if that is certain.
  std::optional<int64_t> only_buffer(const llvm::Value* address) const;

 private:
  // An empty place stands for an unknown buffer.
  using Places = llvm::SmallVector<std::optional<int64_t>>;
  Places places_of(const llvm::Value* address) const;

  llvm::LoopInfo& loops_;
  llvm::DenseSet<int64_t> places_;
  bool any_ = false;
};

}  // namespace metal::cpu
