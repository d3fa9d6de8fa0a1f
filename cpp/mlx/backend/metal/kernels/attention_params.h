// Parameters of the kernel for attention; filled by the host.
#pragma once

#ifndef __METAL_VERSION__
#include <cstdint>
#endif

// How the work is divided. Everything that a SIMD-group multiplies with comes from threadgroup
// memory, which limits the speed: a SIMD-group with more queries reads less for each, and more
// SIMD-groups share what one of them has copied there. Registers limit both.
template <int head_size>
struct AttentionTiles {
  enum {
    kSimdgroups = head_size == 64 ? 4 : 8,
    kGroupQueries = head_size == 64 ? 32 : 16,    // of a SIMD-group
    kBlockQueries = kSimdgroups * kGroupQueries,  // of a threadgroup
    kThreads = kSimdgroups * 32,
    kBlockKeys = 64,  // that a threadgroup reads at a time
  };
};

struct AttentionParams {
  // Distances between batches, heads and positions, in units of eight elements. All positions of a
  // head are within 31 bits of it.
  int64_t q_steps[2], k_steps[2], v_steps[2];
  uint32_t q_step, k_step, v_step;
  uint32_t heads;    // of queries
  uint32_t sharing;  // of these, so many share a head of keys
  uint32_t queries, keys;
  float scale;  // of the scores, times log2(e)
};
