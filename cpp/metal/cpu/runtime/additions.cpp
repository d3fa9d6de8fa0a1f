#include "metal/cpu/runtime/additions.h"

#include <bit>
#include <cstring>
#include <mutex>

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
class Rows {
 public:
  explicit Rows(Additions& additions) : additions_(additions) {
    for (uint32_t i = additions.first; i < additions.rows; ++i) {
      const float* row = additions.row[i];
      touch(row);
      touch(row + Additions::kRow - 1);
      locks_[i] = static_cast<uint8_t>(RegionLock::number(row));
    }
  }

  void make() {
    const uint32_t count = additions_.rows - additions_.first;
    uint64_t waiting = count ? ~uint64_t{0} >> (64 - count) << additions_.first : 0;
    while (waiting) {
      const uint8_t number = locks_[std::countr_zero(waiting)];
      const std::lock_guard lock(RegionLock::get(number));
      const uint64_t same_lock = waiting & find_bytes(locks_, number);
      waiting &= ~same_lock;
      for (uint64_t rest = same_lock; rest; rest &= rest - 1) {
        const int i = std::countr_zero(rest);
        add_row(additions_.row[i], additions_.addends[i]);
      }
    }
  }

 private:
  static_assert(RegionLock::kCount == 256 && Additions::kMax == 64);

  Additions& additions_;
  uint8_t locks_[Additions::kMax] = {};
};

void make_scalars(const Additions& additions) {
  for (uint32_t i = additions.first; i < additions.scalars;) {
    const size_t number = RegionLock::number(additions.place[i]);
    const std::lock_guard lock(RegionLock::get(number));
    for (; i < additions.scalars && RegionLock::number(additions.place[i]) == number; ++i) {
      *additions.place[i] += additions.value[i];
    }
  }
}

}  // namespace
}  // namespace metal::cpu

void metal_cpu_make_additions(const metal::cpu::Group* group) {
  metal::cpu::Additions& additions = *group->additions;
  for (uint32_t i = additions.first; i < additions.scalars; ++i)
    metal::cpu::touch(additions.place[i]);
  metal::cpu::Rows rows(additions);
  const metal::cpu::OutsideKernel outside(group);
  rows.make();
  metal::cpu::make_scalars(additions);
  additions.rows = additions.scalars = additions.first;
}
