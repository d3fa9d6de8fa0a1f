// Finds out which kernels compute each element of their buffers from elements at the same place.
#pragma once

#include <cstdint>
#include <vector>

namespace llvm {
class Module;
}  // namespace llvm

namespace metal {
struct FunctionInfo;
}  // namespace metal

namespace metal::cpu {

// What the thread at position i accesses of a buffer: the `bytes` bytes from i * bytes on, or,
// where that is 0, the first `shared` bytes, which it only reads.
struct ElementAccess {
  uint32_t buffer = 0;  // [[buffer(n)]]
  uint32_t bytes = 0;
  uint32_t shared = 0;
  bool written = false;
};

// What each thread of a one-dimensional grid accesses, a row for each buffer that it uses. Empty if
// that is not known, or if threads depend on each other or print.
std::vector<ElementAccess> find_element_accesses(const llvm::Module& kernel,
                                                 const FunctionInfo& function);

}  // namespace metal::cpu
