// Tells LLVM which accesses never touch the same memory.
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/Instruction.h"

namespace metal::cpu {

// Marks plain loads and stores of device and threadgroup memory, and atomic operations in
// threadgroup memory, with LLVM's scopes of memory.
// Device and threadgroup memory are always separate. Buffers are so in launches that were tested
// for it (`separate_buffers`, see Variant): no buffer that the kernel writes overlaps another one.
void mark_separate_memory(llvm::Function& body, bool separate_buffers);

// Marks loads from buffers that the kernel never writes, if buffers are separate.
void mark_unwritten_buffers(llvm::Function& body);

// Whether the marks of two instructions say that they touch separate memory, or one of them reads
// what nobody writes, or accesses a variable of the thread while the other accesses what threads
// share.
bool are_separate(const llvm::Instruction& one, const llvm::Instruction& other);

// Whether it is a load from a buffer of its own that the kernel never writes.
bool reads_unwritten_buffer(const llvm::Instruction& instruction);

// Whether it matters for the kernel's code that buffers do not overlap: an access to device memory
// may follow a write to it in the same thread, or lanes read what an atomic operation in
// threadgroup memory needs again (lane_loads).
bool depends_on_overlap(const llvm::Module& kernel);

}  // namespace metal::cpu
