// Describes how a kernel in PTX is launched.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace metal::cuda {

// A parameter of a kernel. A launch passes all of them in order, each at its offset.
struct Parameter {
  enum class Kind : uint32_t {
    Buffer,                 // the address that is bound to [[buffer(index)]]
    Value,                  // the bytes that are bound there; only if LaunchForm::by_value
    ThreadgroupOffset,      // bytes to [[threadgroup(index)]] in the dynamic shared memory
    ThreadsPerGrid,         // in dimension `index`; blocks may extend beyond it
    FirstThreadgroup,       // of this launch, in dimension `index`; only if LaunchForm::in_parts
    ThreadsPerThreadgroup,  // in dimension `index`; only if LaunchForm::flat
  };

  Kind kind = Kind::Buffer;
  uint32_t index = 0;
  uint32_t offset = 0;  // bytes
  uint32_t size = 0;    // bytes
};

// What generated code may assume of its launches.
struct LaunchForm {
  uint32_t most_threads = 1024;  // of a threadgroup; with fewer, a thread has more registers
  bool flat = false;             // blocks have one dimension, even if threadgroups have several
  bool aligned = false;          // buffers are bound at multiples of kBufferAlignment
  bool in_parts = false;         // a grid that is too large for one launch becomes several
  bool apart = false;            // LaunchParameters::apart
  bool several = false;          // a thread runs KernelInterface::at_once threads of the kernel
  bool summed = false;           // threadgroups have KernelInterface::summed_size threads in x
  // The constant buffers, as bits, whose bytes are parameters of the launch, and those of them that
  // have up to kLongValueBytes, not kValueBytes.
  uint32_t by_value = 0;
  uint32_t long_values = 0;

  bool operator==(const LaunchForm&) const = default;
};

// Values have one of two sizes, so that a kernel needs few forms.
inline constexpr uint32_t kValueBytes = 64, kLongValueBytes = 256;

// The alignment of MSL's widest vectors.
inline constexpr uint32_t kBufferAlignment = 16;

// A number of threads, raised to a multiple of a warp's 32.
constexpr uint32_t whole_warps(uint32_t threads) { return (threads + 31) / 32 * 32; }

// What the code that launches a kernel must know of it. Blocks have the size of a threadgroup, and
// cover the grid. Flat blocks consist of whole warps.
struct KernelInterface {
  std::string entry;  // the kernel's name in the PTX
  std::vector<Parameter> parameters;
  uint32_t parameter_bytes = 0;
  uint32_t static_threadgroup_memory = 0;  // bytes
  uint32_t max_total_threads = 0;          // of a threadgroup
  bool has_loops = false;                  // code for buffers that are apart is different
  uint32_t at_once = 1;  // threads side by side in x, which one thread can run (several_threads.h)
  // The size of threadgroups in x for which positions that the kernel sums up are those in the grid
  // (summed_positions.h); 0 if there are none. kAnySize: if threadgroups cover the grid exactly.
  uint32_t summed_size = 0;
  static constexpr uint32_t kAnySize = UINT32_MAX;

  bool is_flat() const {
    return std::ranges::any_of(parameters, [](const Parameter& parameter) {
      return parameter.kind == Parameter::Kind::ThreadsPerThreadgroup;
    });
  }
};

}  // namespace metal::cuda
