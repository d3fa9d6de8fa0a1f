// Parameters of the kernel for attention; filled by the host.
#pragma once

#ifndef __METAL_VERSION__
#include <cstdint>
#endif

// Queries of a SIMD-group and of a threadgroup, and keys that a threadgroup reads at a time.
enum { kGroupQueries = 16, kBlockQueries = 64, kBlockKeys = 64, kAttentionThreads = 128 };

struct AttentionParams {
  // Distances between batches, heads and positions, in units of eight elements.
  int64_t q_steps[3], k_steps[3], v_steps[3];
  uint32_t heads;    // of queries
  uint32_t sharing;  // of these, so many share a head of keys
  uint32_t queries, keys;
  float scale;  // of the scores, times log2(e)
};
