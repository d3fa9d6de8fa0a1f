// Locks for atomic additions to floats, one for a region of memory: processors have no instruction
// for these additions.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "metal/cpu/abi.h"

namespace metal::cpu {

// One for all regions whose addresses are equal modulo the number of locks. On cache lines of their
// own, so that cores that add to different places leave each other alone; few enough to stay in a
// core's first cache.
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

// Reads a place, so that a wrong address faults before a lock is taken. The value does not matter,
// and other threads may be writing it.
[[gnu::no_sanitize("thread")]] inline void touch(const float* place) {
  (void)*const_cast<const volatile float*>(place);
}

using Four [[gnu::vector_size(16), gnu::aligned(4), gnu::may_alias]] = float;

inline void add_four(float* row, const float* addends) {
  *reinterpret_cast<Four*>(row) += *reinterpret_cast<const Four*>(addends);
}

}  // namespace metal::cpu
