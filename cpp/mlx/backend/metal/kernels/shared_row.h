// Rows that the threads of a threadgroup share, each with some elements in its registers: for
// devices that run many threads, and hide the time of loads by them. The host includes this too.
#pragma once

// Elements that a thread holds, and the threads of a threadgroup that looks for an extreme in a
// line, or for those of 32 neighbouring columns.
enum { kHeldElements = 16, kArgReduceThreads = 256, kArgColumnThreads = 1024 };

#ifdef __METAL_VERSION__

#include "mlx/backend/metal/kernels/lanes.h"

// One thread of those that share a row.
struct Member {
  uint index;
  uint count;
};

// Calls f(held, i, true) for each element i of this thread; neighbouring threads get neighbouring
// ones. `held` counts the thread's elements if there are at most `most`; 0 stands for any number,
// and then `held` is 0. Calls f(held, length - 1, false) where the thread holds less than `most`:
// code that loads without a condition, and drops what it does not need, does not wait for one load
// after the other.
template <uint most, typename F>
inline void for_each_of_member(uint length, Member member, F f) {
  if constexpr (most > 0) {
#pragma unroll
    for (uint held = 0; held < most; ++held) {
      const uint i = held * member.count + member.index;
      f(held, min(i, length - 1), i < length);
    }
  } else {
    // The number of turns is known before the loop, so that the code can load for several at once.
    const uint turns = length / member.count;
    for (uint turn = 0; turn < turns; ++turn) f(0, turn * member.count + member.index, true);
    const uint last = turns * member.count + member.index;
    if (last < length) f(0, last, true);
  }
}

// What SIMD-groups pass to each other. Every reduction of a kernel needs its own.
struct Partials {
  float of_group[kLanes];
};

// The same result in every thread.
template <typename Op>
inline float reduce_members(float value, float neutral, Member member,
                            threadgroup Partials& partials) {
  value = reduce_lanes<Op>(value);
  const uint lane = member.index % kLanes, groups = member.count / kLanes;
  if (groups == 1) return value;
  if (lane == 0) partials.of_group[member.index / kLanes] = value;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return reduce_lanes<Op>(lane < groups ? partials.of_group[lane] : neutral);
}

#endif
