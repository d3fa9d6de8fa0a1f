// Finds out whether all threadgroups read the same memory.
#pragma once

namespace llvm {
class Value;
}

namespace metal::cpu {

// Whether an address depends on the threadgroup's position. Otherwise all threadgroups
// read the same, such as the vector in a product with a matrix. That is in the caches, and
// prefetches behind its end, where no memory may be, take long.
bool differs_between_threadgroups(const llvm::Value* address);

}  // namespace metal::cpu
