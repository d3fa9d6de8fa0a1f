// Locks for atomic additions to floats, for which processors have no instruction: one lock for a
// region of memory.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "metal/cpu/abi.h"

namespace metal::cpu {

// Regions whose addresses are equal modulo the number of locks share a lock. Each lock has a cache
// line of its own, so that cores that add to different regions do not slow each other down. The
// locks fit into a core's first-level cache.
class alignas(64) RegionLock {
 public:
  static constexpr size_t kCount = 256;

  static size_t number(const float* place) {
    return std::bit_cast<uintptr_t>(place) / kRegionSize % kCount;
  }
  static RegionLock& get(size_t number) { return all[number]; }

  void lock();
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  static RegionLock all[kCount];
  std::atomic<bool> taken_{false};
};

// Reads a place, so that a wrong address faults before a lock is taken. The value is not used, so
// other threads may write it meanwhile.
[[gnu::no_sanitize("thread")]] inline void touch(const float* place) {
  (void)*const_cast<const volatile float*>(place);
}

using Four [[gnu::vector_size(16), gnu::aligned(4), gnu::may_alias]] = float;

inline void add_four(float* row, const float* addends) {
  *reinterpret_cast<Four*>(row) += *reinterpret_cast<const Four*>(addends);
}

}  // namespace metal::cpu
