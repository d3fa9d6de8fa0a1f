#include "metal/cpu/runtime/region_locks.h"

#include <thread>

namespace metal::cpu {
namespace {

constexpr int kPatience = 256;  // looks at a taken lock

}  // namespace

RegionLock RegionLock::all[kCount];

void RegionLock::lock() {
  while (taken_.exchange(true, std::memory_order_acquire)) {
    // Who holds it is done in nanoseconds, or has lost its core.
    for (int i = 0; taken_.load(std::memory_order_relaxed); ++i) {
      if (i >= kPatience) std::this_thread::yield();
    }
  }
}

}  // namespace metal::cpu
