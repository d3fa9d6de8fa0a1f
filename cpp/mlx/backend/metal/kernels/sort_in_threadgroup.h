// Sorting in threadgroup memory, by a bitonic network (Batcher, 1968).
#pragma once

#include "mlx/backend/metal/kernels/sort_items.h"

// Sorts each `length` items, a power of two, of `count`.
template <typename Item>
inline void sort_in_threadgroup(threadgroup Item* items, uint length, uint count, uint member,
                                uint threads) {
  for (uint width = 2; width <= length; width *= 2) {
    for (uint distance = width / 2; distance > 0; distance /= 2) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      for (uint pair = member; pair < count / 2; pair += threads) {
        const uint low = 2 * pair - (pair & (distance - 1)), high = low + distance;
        const bool ascends = (low & (length - 1) & width) == 0;
        const Item a = items[low], b = items[high];
        if (before(b, a) == ascends) {
          items[low] = b;
          items[high] = a;
        }
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
