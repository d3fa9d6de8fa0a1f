#include "metal/cpu/runtime/atomic_float.h"

#include <algorithm>
#include <bit>
#include <mutex>

#include "metal/cpu/runtime/outside_kernel.h"
#include "metal/cpu/runtime/region_locks.h"

namespace metal::cpu {
namespace {

// row[i] += addends[i] for i in [begin, end)
void add(float* row, const float* addends, uint32_t begin, uint32_t end) {
  for (; begin + 16 <= end; begin += 16) {
    for (uint32_t i = begin; i < begin + 16; i += 4) add_four(row + i, addends + i);
  }
  for (; begin + 4 <= end; begin += 4) add_four(row + begin, addends + begin);
  for (; begin < end; ++begin) row[begin] += addends[begin];
}

}  // namespace
}  // namespace metal::cpu

using metal::cpu::add;
using metal::cpu::kRegionSize;
using metal::cpu::OutsideKernel;
using metal::cpu::RegionLock;
using metal::cpu::touch;

float metal_cpu_atomic_add_f32(const metal::cpu::Group* group, float* place, float value) {
  touch(place);
  const OutsideKernel outside(group);
  const std::lock_guard lock(RegionLock::get(RegionLock::number(place)));
  const float before = *place;
  *place = before + value;
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
  const bool all = (from_first & (from_first + 1)) == 0;  // one run of set bits
  const OutsideKernel outside(group);
  for (uint32_t i = first; i < last;) {
    // The floats up to the end of the region.
    const uintptr_t rest = kRegionSize - std::bit_cast<uintptr_t>(row + i) % kRegionSize;
    const uint32_t end = std::min(last, i + static_cast<uint32_t>((rest + 3) / sizeof(float)));
    const std::lock_guard lock(RegionLock::get(RegionLock::number(row + i)));
    if (all) {
      add(row, addends, i, end);
    } else {
      for (uint32_t k = i; k < end; ++k) {
        if (lanes >> k & 1) row[k] += addends[k];
      }
    }
    i = end;
  }
}
