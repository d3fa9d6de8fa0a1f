#include "metal/cpu/runtime/additions.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <numeric>

#include "metal/cpu/runtime/outside_kernel.h"
#include "metal/cpu/runtime/region_locks.h"

namespace metal::cpu {
namespace {

// Sets a bit for each byte that equals `wanted`.
uint64_t find_bytes(const uint8_t (&bytes)[64], uint8_t wanted) {
  constexpr uint64_t kOnes = 0x0101010101010101, kLow = 0x7f * kOnes;
  uint64_t found = 0;
  for (size_t i = 0; i < 8; ++i) {
    uint64_t word;
    std::memcpy(&word, bytes + 8 * i, 8);
    word ^= wanted * kOnes;
    const uint64_t same = ~(((word & kLow) + kLow) | word | kLow);  // the top bit of each byte
    found |= ((same >> 7) * 0x0102040810204080 >> 56) << 8 * i;
  }
  return found;
}

void add_row(float* row, const float* addends) {
#pragma GCC unroll 8
  for (uint32_t i = 0; i < Additions::kRow; i += 4) add_four(row + i, addends + i);
}

// Adds rows under one lock where they share it: a few of them often are neighbours.
void make_rows(const Additions& additions, uint32_t count) {
  static_assert(RegionLock::kCount == 256 && Additions::kMaxRows == 64);
  uint8_t locks[Additions::kMaxRows] = {};
  for (uint32_t i = 0; i < count; ++i)
    locks[i] = static_cast<uint8_t>(RegionLock::number(additions.row[i]));
  uint64_t waiting = count ? ~uint64_t{0} >> (64 - count) : 0;
  while (waiting) {
    const uint8_t number = locks[std::countr_zero(waiting)];
    const std::lock_guard lock(RegionLock::get(number));
    const uint64_t same_lock = waiting & find_bytes(locks, number);
    waiting &= ~same_lock;
    for (uint64_t rest = same_lock; rest; rest &= rest - 1) {
      const int i = std::countr_zero(rest);
      add_row(additions.row[i], additions.addends[i]);
    }
  }
}

// Fetches a cache line for this core alone: other cores wrote most of these last, and a line that
// is fetched to be read has to be fetched again.
void prefetch_to_write(const void* place) {
#ifdef __x86_64__  // compilers use this instruction only for processors that are known to have it
  asm volatile("prefetchw %0" ::"m"(*static_cast<const char*>(place)));
#else
  __builtin_prefetch(place, 1);
#endif
}

// Taking a lock that another core had last takes as long as some tens of additions, so each lock is
// taken for many scalars.
class Scalars {
 public:
  Scalars(const Additions& additions, uint32_t count) : additions_(additions), count_(count) {
    static_assert(RegionLock::kCount == 256 && Additions::kMaxScalars <= UINT16_MAX);
    for (uint32_t i = 0; i < count_; ++i)
      locks_[i] = static_cast<uint8_t>(RegionLock::number(additions_.place[i]));
  }

  void make() {
    constexpr uint32_t kLongRun = 8;
    constexpr uint32_t kFew = 512;  // sorting these takes longer than their locks
    if (count_runs() * kLongRun <= std::max(count_, kFew)) {
      make_runs();
    } else {
      make_sorted();
    }
  }

 private:
  // Runs of scalars that have the same lock. The entries of a matrix whose rows are sorted, say,
  // are few long ones.
  uint32_t count_runs() const {
    uint32_t runs = 1;
    for (uint32_t i = 1; i < count_; ++i) runs += locks_[i] != locks_[i - 1];
    return runs;
  }

  void make_runs() const {
    for (uint32_t i = 0; i < count_;) {
      const uint8_t number = locks_[i];
      const std::lock_guard lock(RegionLock::get(number));
      do {
        i = add_to_place(i);
      } while (i < count_ && locks_[i] == number);
    }
  }

  // Makes this addition and those behind it that have the same place. Returns the next one.
  uint32_t add_to_place(uint32_t i) const {
    float* place = additions_.place[i];
    float sum = *place;
    do {
      sum += additions_.value[i++];
    } while (i < count_ && additions_.place[i] == place);
    *place = sum;
    return i;
  }

  void make_sorted() {
    // Each worker has another order of locks, so that they seldom want the same one.
    const auto own =
        static_cast<uint8_t>(std::bit_cast<uintptr_t>(&additions_) / sizeof(Additions));
    uint16_t next[RegionLock::kCount] = {};  // in `order`, by lock
    for (uint32_t i = 0; i < count_; ++i) ++next[locks_[i] ^ own];
    std::exclusive_scan(std::begin(next), std::end(next), std::begin(next), uint16_t{0});
    // Taking a lock keeps the processor from reading ahead itself.
    constexpr uint32_t kAhead = 16, kLocksAhead = 3;
    uint16_t order[Additions::kMaxScalars + kAhead];
    std::fill_n(order + count_, kAhead, uint16_t{0});
    for (uint32_t i = 0; i < count_; ++i) order[next[locks_[i] ^ own]++] = static_cast<uint16_t>(i);
    for (uint32_t i = 0, k = 0; k < RegionLock::kCount; ++k) {
      if (i == next[k]) continue;
      prefetch_to_write(&RegionLock::get((k + kLocksAhead) % RegionLock::kCount ^ own));
      const std::lock_guard lock(RegionLock::get(k ^ own));
      for (; i < next[k]; ++i) {
        prefetch_to_write(additions_.place[order[i + kAhead]]);
        *additions_.place[order[i]] += additions_.value[order[i]];
      }
    }
  }

  const Additions& additions_;
  uint32_t count_;
  uint8_t locks_[Additions::kMaxScalars];
};

}  // namespace

void start_additions(Additions& additions, bool may_defer) {
  additions.rows = additions.scalars = 0;
  additions.ended_rows = additions.ended_scalars = 0;
  additions.full_rows = may_defer ? Additions::kMaxRows : 1;
  additions.full_scalars = may_defer ? Additions::kMaxScalars - Additions::kMaxAtOnce : 1;
}

void end_threadgroup(Additions& additions) {
  for (uint32_t& i = additions.ended_rows; i < additions.rows; ++i) {
    touch(additions.row[i]);
    touch(additions.row[i] + Additions::kRow - 1);
  }
  for (uint32_t& i = additions.ended_scalars; i < additions.scalars; ++i) touch(additions.place[i]);
}

void make_additions(Additions& additions) {
  make_rows(additions, additions.ended_rows);
  if (additions.ended_scalars) Scalars(additions, additions.ended_scalars).make();
  additions.rows = additions.scalars = 0;
  additions.ended_rows = additions.ended_scalars = 0;
}

}  // namespace metal::cpu

void metal_cpu_make_additions(const metal::cpu::Group* group) {
  end_threadgroup(*group->additions);
  const metal::cpu::OutsideKernel outside(group);
  make_additions(*group->additions);
}
