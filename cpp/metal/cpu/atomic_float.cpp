#include "metal/cpu/atomic_float.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <thread>

#include "metal/cpu/unit_scheduler.h"
#include "metal/cpu/worker.h"

namespace metal::cpu {
namespace {

constexpr uintptr_t kLineSize = 64;
constexpr uintptr_t kRegionSize = 512;  // what one lock covers: most rows need but one
constexpr size_t kLocks = 256;
constexpr int kPatience = 256;  // looks at a taken lock

// One lock for all regions whose addresses are equal modulo the number of locks. On cache lines of
// their own, so that cores that add to different places leave each other alone; few enough to stay
// in a core's first cache.
struct alignas(kLineSize) Lock {
  std::atomic<bool> taken{false};

  void lock() {
    while (taken.exchange(true, std::memory_order_acquire)) {
      // Who holds it is done in nanoseconds, or has lost its core.
      for (int i = 0; taken.load(std::memory_order_relaxed); ++i) {
        if (i >= kPatience) std::this_thread::yield();
      }
    }
  }
  void unlock() { taken.store(false, std::memory_order_release); }
};

Lock locks[kLocks];

Lock& lock_of(const float* place) {
  return locks[std::bit_cast<uintptr_t>(place) / kRegionSize % kLocks];
}

// A kernel may be stopped or fault at any time; not while it holds a lock.
class Held {
 public:
  explicit Held(const Group* group) : worker_(scheduler_of(group).worker()) {
    worker_.leave_kernel();
  }
  ~Held() { worker_.enter_kernel(); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  Worker& worker_;
};

using Four [[gnu::vector_size(16), gnu::aligned(4), gnu::may_alias]] = float;

// row[i] += addends[i] for i in [begin, end)
void add(float* row, const float* addends, uint32_t begin, uint32_t end) {
  auto add_four = [&](uint32_t i) {
    *reinterpret_cast<Four*>(row + i) += *reinterpret_cast<const Four*>(addends + i);
  };
  for (; begin + 16 <= end; begin += 16) {
    for (uint32_t i = 0; i < 16; i += 4) add_four(begin + i);
  }
  for (; begin + 4 <= end; begin += 4) add_four(begin);
  for (; begin < end; ++begin) row[begin] += addends[begin];
}

void touch(const float* place) { (void)*const_cast<const volatile float*>(place); }

}  // namespace
}  // namespace metal::cpu

using metal::cpu::add;
using metal::cpu::Held;
using metal::cpu::kRegionSize;
using metal::cpu::lock_of;
using metal::cpu::touch;

float metal_cpu_atomic_add_f32(const metal::cpu::Group* group, float* place, float value) {
  touch(place);
  const Held held(group);
  auto& lock = lock_of(place);
  lock.lock();
  const float before = *place;
  *place = before + value;
  lock.unlock();
  return before;
}

void metal_cpu_atomic_add_row_f32(const metal::cpu::Group* group, float* row, const float* addends,
                                  uint64_t lanes) {
  if (!lanes) return;
  const auto first = static_cast<uint32_t>(std::countr_zero(lanes));
  const auto last = static_cast<uint32_t>(std::bit_width(lanes));
  touch(row + first);
  touch(row + last - 1);
  const uint64_t from_first = lanes >> first;
  const bool all = (from_first & (from_first + 1)) == 0;  // a run of ones
  const Held held(group);
  for (uint32_t i = first; i < last;) {
    // As far as the region goes.
    const uintptr_t rest = kRegionSize - std::bit_cast<uintptr_t>(row + i) % kRegionSize;
    const uint32_t end = std::min(last, i + static_cast<uint32_t>((rest + 3) / sizeof(float)));
    auto& lock = lock_of(row + i);
    lock.lock();
    if (all) {
      add(row, addends, i, end);
    } else {
      for (uint32_t k = i; k < end; ++k) {
        if (lanes >> k & 1) row[k] += addends[k];
      }
    }
    lock.unlock();
    i = end;
  }
}
