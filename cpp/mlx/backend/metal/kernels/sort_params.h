// Parameters of the kernels that sort; filled by the host.
#pragma once

#ifndef __METAL_VERSION__
#include <cstdint>
#endif

// The items that a threadgroup sorts or merges, those of a thread, and its threads. Lines may have
// twice as many items, if these have at most 8 bytes.
enum { kSortTile = 2048, kSortOwn = 8, kSortThreads = kSortTile / kSortOwn };

// Lines of `length` elements become lines of `slots` items: a power of two up to kSortTile, or a
// multiple of it. What fills them up comes after all elements.
struct SortParams {
  uint32_t length;
  uint32_t slots;
  uint32_t lines;
  uint32_t run;  // merging: items that are in order
};

// The bytes of the items that a threadgroup counts or moves, and its threads, which are as many as
// there are digits of eight bits.
enum { kRadixTileBytes = 16384, kRadixThreads = 256 };

// Lines of `length` items, in `tiles` of so many bytes. The digit starts at bit `shift`.
struct RadixParams {
  uint32_t length;
  uint32_t tiles;
  uint32_t shift;
  uint32_t padding;
};

// The threads that partition a line, and how many elements they sort at most.
enum { kPartitionThreads = 512, kPartitionSorted = 1024 };

// Lines of `length` elements. After partitioning, `sorted` results from `sorted_first` on, which
// are all before or all behind `kth`, with it, are in order.
struct PartitionParams {
  uint32_t length;
  uint32_t kth;
  uint32_t sorted_first;
  uint32_t sorted;
};
