#include "metal/cpu/runtime/region_locks.h"

#include <thread>

namespace metal::cpu {
namespace {

constexpr int kMaxSpins = 256;  // spins before a taken lock yields the core

}  // namespace

RegionLock RegionLock::all[kCount];

void RegionLock::lock() {
  while (taken_.exchange(true, std::memory_order_acquire)) {
    // The owner releases the lock within nanoseconds, unless it was descheduled.
    for (int i = 0; taken_.load(std::memory_order_relaxed); ++i) {
      if (i >= kMaxSpins) std::this_thread::yield();
    }
  }
}

}  // namespace metal::cpu
