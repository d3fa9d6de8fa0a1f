// Tells LLVM which accesses never touch the same memory.
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/Instruction.h"

namespace metal::cpu {

// Marks plain loads and stores of device and threadgroup memory with LLVM's scopes of memory.
// Device and threadgroup memory are always separate. Buffers are so in launches that were tested
// for it (`separate_buffers`, see Variant): no buffer that the kernel writes overlaps another one.
void mark_separate_memory(llvm::Function& body, bool separate_buffers);

// Whether the marks of two instructions say that they touch separate memory.
bool are_separate(const llvm::Instruction& one, const llvm::Instruction& other);

// Whether an access to device memory may follow a write to it in the same thread. Only then does it
// matter for the kernel's code whether buffers overlap.
bool accesses_after_writes(const llvm::Module& kernel);

}  // namespace metal::cpu
