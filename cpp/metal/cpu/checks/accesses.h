// The accesses to memory of a kernel.
#pragma once

#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "metal/cpu/checks/check_abi.h"

namespace metal::cpu {

struct Access {
  llvm::Instruction* instruction;
  llvm::Use* pointer;
  llvm::Value* written;  // the pointer as it stands in the kernel, before checks replace it
  llvm::Use* length;     // operand of a copy or fill, else null: then it is `bytes`
  uint64_t bytes;
  AccessKind kind;
};

// In the order of the code; a copy of memory is two of them. Empty accesses are left out.
std::vector<Access> find_accesses(llvm::Function& kernel);

// Where an access begins, without an address space, as functions of the runtime take it.
llvm::Value* address_of(llvm::IRBuilder<>& b, const Access& access);
// The number of bytes that an access touches, as i64.
llvm::Value* bytes_of(llvm::IRBuilder<>& b, const Access& access);

// Whether an access at this offset of an object leaves it, as i1. An empty one never does.
llvm::Value* is_outside(llvm::IRBuilder<>& b, const Access& access, llvm::Value* offset,
                        llvm::Value* object_bytes);

bool is_device(const llvm::Value& pointer);  // to device memory
// Whether other threads may touch what it points to, and change it.
bool is_shared(const llvm::Value& pointer);

}  // namespace metal::cpu
