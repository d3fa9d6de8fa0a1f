#include "metal/cpu/vectorizer/prefetch/shared_reads.h"

#include <cstddef>

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"
#include "metal/cpu/abi.h"
#include "metal/cpu/vectorizer/memory/buffers.h"

namespace metal::cpu {
namespace {

bool is_threadgroup_position(const llvm::Value* value) {
  const auto member = group_member(value);
  return member && *member >= int64_t{offsetof(Group, position)} &&
         *member < int64_t{offsetof(Group, size)};
}

}  // namespace

bool differs_between_threadgroups(const llvm::Value* address) {
  llvm::SmallPtrSet<const llvm::Value*, 16> found;
  llvm::SmallVector<const llvm::Value*> work{address};
  while (!work.empty()) {
    const llvm::Value* value = work.pop_back_val();
    if (!found.insert(value).second) continue;
    if (is_threadgroup_position(value)) return true;
    if (const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value))
      work.append(instruction->value_op_begin(), instruction->value_op_end());
  }
  return false;
}

}  // namespace metal::cpu
