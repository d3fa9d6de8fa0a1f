// Refuses launches that break a limit, before they run.
#include <cstdint>
#include <string>

#include "metal/driver.h"

namespace metal {
namespace {

// A negative size has wrapped around. The message shows it as the user wrote it.
std::string text(uint64_t value) { return std::to_string(static_cast<int64_t>(value)); }

std::string text(const uint64_t (&size)[3]) {
  return "(" + text(size[0]) + ", " + text(size[1]) + ", " + text(size[2]) + ")";
}

bool each_within(const uint64_t (&size)[3], uint64_t largest) {
  for (uint64_t value : size) {
    if (value == 0 || value > largest) return false;
  }
  return true;
}

}  // namespace

std::string check_launch(const Kernel& kernel, const uint64_t (&threads_per_grid)[3],
                         const uint64_t (&threads_per_threadgroup)[3],
                         uint64_t dynamic_threadgroup_memory) {
  const auto start = [&] { return "[" + kernel.name + "] "; };
  if (!each_within(threads_per_grid, UINT32_MAX)) {
    return start() + "Invalid grid " + text(threads_per_grid) +
           ": each dimension must be from 1 to 4294967295 threads";
  }
  if (!each_within(threads_per_threadgroup, kMaxThreadsPerThreadgroup)) {
    return start() + "Invalid threadgroup " + text(threads_per_threadgroup) +
           ": each dimension must be from 1 to " + text(kMaxThreadsPerThreadgroup) + " threads";
  }
  uint64_t threads =
      threads_per_threadgroup[0] * threads_per_threadgroup[1] * threads_per_threadgroup[2];
  if (threads > kernel.max_total_threads) {
    return start() + "Invalid threadgroup " + text(threads_per_threadgroup) + " of " +
           text(threads) + " threads: this kernel allows at most " + text(kernel.max_total_threads);
  }
  uint64_t memory = (kernel.static_threadgroup_memory + uint64_t{15}) / 16 * 16;
  if (dynamic_threadgroup_memory > kMaxThreadgroupMemory ||
      memory + dynamic_threadgroup_memory > kMaxThreadgroupMemory) {
    return start() + "The launch needs " + text(memory + dynamic_threadgroup_memory) +
           " bytes of threadgroup memory (" + text(kernel.static_threadgroup_memory) +
           " declared in the kernel, " + text(dynamic_threadgroup_memory) +
           " given at launch): at most " + text(kMaxThreadgroupMemory) + " are allowed";
  }
  return {};
}

}  // namespace metal
