// The accesses to memory of a kernel.
#pragma once

#include <vector>

#include "llvm/IR/DebugLoc.h"
#include "metal/cpu/checks/check_abi.h"

namespace llvm {
class Function;
class Instruction;
class Use;
class Value;
}  // namespace llvm

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

// Whether other threads may touch what it points to, and change it.
bool is_shared(const llvm::Value& pointer);

}  // namespace metal::cpu
