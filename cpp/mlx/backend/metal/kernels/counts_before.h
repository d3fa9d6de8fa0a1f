// What comes before a thread in its SIMD-group or threadgroup.
#pragma once

#include "mlx/backend/metal/kernels/lanes.h"

// The lanes of the SIMD-group for which it holds, as bits.
inline uint lanes_where(bool holds) {
  return static_cast<uint>(static_cast<simd_vote::vote_t>(simd_ballot(holds)));
}

inline uint count_before(uint lanes, uint lane) { return popcount(lanes & ((1u << lane) - 1)); }

// The sum of the values of the threads before this one; `sums` holds those of SIMD-groups.
inline uint sum_before(uint value, uint member, threadgroup uint* sums) {
  const uint group = member / kLanes;
  const uint before = simd_prefix_exclusive_sum(value);
  if (member % kLanes == kLanes - 1) sums[group] = before + value;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint of_groups = 0;
  for (uint i = 0; i < group; ++i) of_groups += sums[i];
  return of_groups + before;
}
