// How a kernel in PTX is launched.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace metal::cuda {

// One parameter of a kernel. A launch passes them in order, each at its offset.
struct Parameter {
  enum class Kind : uint32_t {
    Buffer,             // the address that is bound to [[buffer(index)]]
    ThreadgroupOffset,  // where [[threadgroup(index)]] begins in the dynamic shared memory, in
                        // bytes
    ThreadsPerGrid,     // in dimension `index`; the blocks at the edge may reach beyond it
    FirstThreadgroup,   // position of the launch's first block in dimension `index`; only of code
                        // for parts of a grid
    ThreadsPerThreadgroup,  // in dimension `index`; only of flat code
  };

  Kind kind = Kind::Buffer;
  uint32_t index = 0;
  uint32_t offset = 0;  // bytes
  uint32_t size = 0;    // bytes
};

// What code may assume of its launches.
struct LaunchForm {
  uint32_t most_threads = 1024;  // of a threadgroup: the fewer, the more registers a thread has
  bool flat = false;             // blocks have one dimension, whatever those of the threadgroup
  bool aligned = false;          // buffers are bound at multiples of kBufferAlignment
  bool in_parts = false;         // a grid that is too large for the GPU becomes several launches

  bool operator==(const LaunchForm&) const = default;
};

// What the widest vectors of MSL need to be read at once.
inline constexpr uint32_t kBufferAlignment = 16;

// What a launcher has to know of a kernel. Blocks have the size of a threadgroup, and there are
// enough of them to cover the grid.
struct KernelInterface {
  std::string entry;  // the kernel's name in the PTX
  std::vector<Parameter> parameters;
  uint32_t parameter_bytes = 0;
  uint32_t static_threadgroup_memory = 0;  // bytes
  uint32_t max_total_threads = 0;          // of a block
};

}  // namespace metal::cuda
