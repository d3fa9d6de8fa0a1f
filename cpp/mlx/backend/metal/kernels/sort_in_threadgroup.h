// Sorting in a threadgroup, by a bitonic network (Batcher, 1968): in each step, items a distance
// apart are put in order.
#pragma once

#include "mlx/backend/metal/kernels/lanes.h"
#include "mlx/backend/metal/kernels/sort_items.h"

inline ulong from_lane(ulong item, ushort distance) {
  return as_type<ulong>(simd_shuffle_xor(as_type<uint2>(item), distance));
}
inline WideItem from_lane(WideItem item, ushort distance) {
  return {from_lane(item.key, distance), simd_shuffle_xor(item.position, distance)};
}

// Sorts `length` items, a power of two, in threadgroup memory.
template <typename Item>
inline void sort_in_threadgroup(threadgroup Item* items, uint length, uint member, uint threads) {
  for (uint width = 2; width <= length; width *= 2) {
    for (uint distance = width / 2; distance > 0; distance /= 2) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      for (uint pair = member; pair < length / 2; pair += threads) {
        const uint low = 2 * pair - (pair & (distance - 1)), high = low + distance;
        const Item a = items[low], b = items[high];
        if (before(b, a) == ((low & width) == 0)) {
          items[low] = b;
          items[high] = a;
        }
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}

// Items that follow each other, which a thread of `threads` has: `own` of them.
template <typename Item, uint own, uint threads>
struct OwnItems {
  Item at[own];

  METAL_FUNC void read(const threadgroup Item* items, uint member) {
#pragma unroll
    for (uint k = 0; k < own; ++k) at[k] = items[member * own + k];
  }
  METAL_FUNC void write(threadgroup Item* items, uint member) const {
#pragma unroll
    for (uint k = 0; k < own; ++k) items[member * own + k] = at[k];
  }

  // Sorts each `length` items, a power of two, of all threads. `shared` has room for all items.
  METAL_FUNC void sort(threadgroup Item* shared, uint length, uint member) {
#pragma unroll
    for (uint width = 2; width < own; width *= 2) {
      if (width <= length) order_own(width / 2, width, length, member);
    }
    for (uint width = own; width <= length; width *= 2) {
      for (uint distance = width / 2; distance >= own; distance /= 2) {
        if (distance >= own * kLanes) {
          exchange(shared, distance / own, width, length, member);
        } else {
          exchange_in_simdgroup(distance / own, width, length, member);
        }
      }
      order_own(own / 2, width, length, member);
    }
  }

 private:
  // Whether items come in ascending order at a place in a step, so that the next one merges them
  // with descending ones.
  static METAL_FUNC bool ascends(uint place, uint width, uint length) {
    return (place & (length - 1) & width) == 0;
  }

  // The steps from a distance on that stay within the thread.
  METAL_FUNC void order_own(uint first, uint width, uint length, uint member) {
#pragma unroll
    for (uint distance = own / 2; distance > 0; distance /= 2) {
      if (distance > first) continue;
#pragma unroll
      for (uint k = 0; k < own; ++k) {
        if (k & distance) continue;
        const Item a = at[k], b = at[k + distance];
        const bool swaps = before(b, a) == ascends(member * own + k, width, length);
        at[k] = swaps ? b : a;
        at[k + distance] = swaps ? a : b;
      }
    }
  }

  METAL_FUNC void keep(uint k, Item other, bool smaller) {
    at[k] = before(other, at[k]) == smaller ? other : at[k];
  }

  METAL_FUNC void exchange_in_simdgroup(uint distance, uint width, uint length, uint member) {
    const bool smaller = ((member & distance) == 0) == ascends(member * own, width, length);
#pragma unroll
    for (uint k = 0; k < own; ++k)
      keep(k, from_lane(at[k], static_cast<ushort>(distance)), smaller);
  }

  METAL_FUNC void exchange(threadgroup Item* shared, uint distance, uint width, uint length,
                           uint member) {
    const bool smaller = ((member & distance) == 0) == ascends(member * own, width, length);
    threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
    for (uint k = 0; k < own; ++k) shared[k * threads + member] = at[k];
    threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
    for (uint k = 0; k < own; ++k) keep(k, shared[k * threads + (member ^ distance)], smaller);
  }
};
