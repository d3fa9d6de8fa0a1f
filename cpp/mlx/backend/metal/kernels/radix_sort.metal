// Sorts long lines by the bits of their keys, from the lowest to the highest eight: for each, the
// items of a tile are counted by their digit, counts become places, and items move there. Items
// with the same digit keep their order. A threadgroup first sorts its tile in its own memory, so
// that neighbouring threads write neighbouring items.
#include "mlx/backend/metal/kernels/counts_before.h"
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/sort_items.h"
#include "mlx/backend/metal/kernels/sort_params.h"

constant constexpr uint kDigits = kRadixThreads;  // a thread for each
constant constexpr uint kGroups = kRadixThreads / kLanes;
template <typename Item>
constant constexpr uint kTile = kRadixTileBytes / sizeof(Item);

inline uint digit_of(uint item, uint shift) { return (item >> shift) % kDigits; }
inline uint digit_of(ulong item, uint shift) { return uint(item >> shift) % kDigits; }
inline uint digit_of(WideItem item, uint shift) { return uint(item.key >> shift) % kDigits; }

template <typename T, bool Positions>
[[kernel]] void radix_items(const device T* in [[buffer(0)]],
                            device typename Items<T, Positions>::type* out [[buffer(1)]],
                            constant const RadixParams& p [[buffer(2)]],
                            uint2 place [[thread_position_in_grid]]) {
  const ulong at = ulong(place.y) * p.length + place.x;
  out[at] = Items<T, Positions>::of(in[at], place.x);
}

// `counts`: for each line and digit, of each tile.
template <typename Item>
[[kernel, max_total_threads_per_threadgroup(kRadixThreads)]] void radix_count(
    const device Item* items [[buffer(0)]], device uint* counts [[buffer(1)]],
    constant const RadixParams& p [[buffer(2)]], uint2 tile [[threadgroup_position_in_grid]],
    uint member [[thread_index_in_threadgroup]]) {
  threadgroup atomic_uint of_digit[kDigits];
  atomic_store_explicit(&of_digit[member], 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  items += ulong(tile.y) * p.length;
  const uint first = tile.x * kTile<Item>, end = min(p.length, first + kTile<Item>);
  for (uint i = first + member; i < end; i += kRadixThreads)
    atomic_fetch_add_explicit(&of_digit[digit_of(items[i], p.shift)], 1, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  counts[(ulong(tile.y) * kDigits + member) * p.tiles + tile.x] =
      atomic_load_explicit(&of_digit[member], memory_order_relaxed);
}

// Makes counts of tiles sums of those before, for one digit of a line, whose total it writes.
[[kernel, max_total_threads_per_threadgroup(kRadixThreads)]] void radix_places(
    device uint* counts [[buffer(0)]], device uint* totals [[buffer(1)]],
    constant const RadixParams& p [[buffer(2)]], uint row [[threadgroup_position_in_grid]],
    uint member [[thread_index_in_threadgroup]]) {
  threadgroup uint sums[kGroups];
  counts += ulong(row) * p.tiles;
  uint total = 0;
  for (uint first = 0; first < p.tiles; first += kRadixThreads) {
    const uint i = first + member;
    const uint count = i < p.tiles ? counts[i] : 0;
    const uint before = sum_before(count, member, sums);
    if (i < p.tiles) counts[i] = total + before;
    for (uint group = 0; group < kGroups; ++group) total += sums[group];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (member == 0) totals[row] = total;
}

// The lanes of those that take part whose digit is the same.
inline uint lanes_with(uint digit, bool takes_part) {
  uint lanes = lanes_where(takes_part);
  for (uint bit = 1; bit < kDigits; bit *= 2) {
    const bool is_set = digit & bit;
    const uint others = lanes_where(is_set);
    lanes &= is_set ? others : ~others;
  }
  return lanes;
}

// Each SIMD-group sorts items that follow each other.
template <typename Item>
[[kernel, max_total_threads_per_threadgroup(kRadixThreads)]] void radix_move(
    const device Item* items [[buffer(0)]], device Item* out [[buffer(1)]],
    const device uint* counts [[buffer(2)]], const device uint* totals [[buffer(3)]],
    constant const RadixParams& p [[buffer(4)]], uint2 tile [[threadgroup_position_in_grid]],
    uint member [[thread_index_in_threadgroup]]) {
  constexpr uint kItemsOfGroup = kTile<Item> / kGroups;
  threadgroup Item sorted[kTile<Item>];
  threadgroup atomic_uint of_group[kGroups][kDigits];
  threadgroup uint moves[kDigits];  // from the place in the tile to that in the line
  threadgroup uint sums[2][kGroups];
  const uint group = member / kLanes, lane = member % kLanes;
  items += ulong(tile.y) * p.length;
  out += ulong(tile.y) * p.length;
  const uint start = tile.x * kTile<Item>, count = min(p.length - start, kTile<Item>);
  const uint first = min(group * kItemsOfGroup, count), end = min(first + kItemsOfGroup, count);
  items += start;

  // The number of items of each digit in each group.
  for (uint i = 0; i < kGroups; ++i)
    atomic_store_explicit(&of_group[i][member], 0, memory_order_relaxed);
  const uint row = tile.y * kDigits + member;
  const uint in_line =
      sum_before(totals[row], member, sums[0]) + counts[ulong(row) * p.tiles + tile.x];
  for (uint i = first + lane; i < end; i += kLanes) {
    atomic_fetch_add_explicit(&of_group[group][digit_of(items[i], p.shift)], 1,
                              memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  // From them, the place in the tile of the next item of each digit in each group.
  uint of_digit = 0;
  for (uint i = 0; i < kGroups; ++i)
    of_digit += atomic_load_explicit(&of_group[i][member], memory_order_relaxed);
  uint place = sum_before(of_digit, member, sums[1]);
  moves[member] = in_line - place;
  for (uint i = 0; i < kGroups; ++i) {
    const uint own = atomic_load_explicit(&of_group[i][member], memory_order_relaxed);
    atomic_store_explicit(&of_group[i][member], place, memory_order_relaxed);
    place += own;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  for (uint i = first; i < end; i += kLanes) {
    const bool inside = i + lane < end;
    const Item item = items[inside ? i + lane : end - 1];
    const uint digit = digit_of(item, p.shift);
    const uint lanes = lanes_with(digit, inside);
    const uint next = atomic_load_explicit(&of_group[group][digit], memory_order_relaxed);
    const uint rank = count_before(lanes, lane);
    simdgroup_barrier(mem_flags::mem_threadgroup);
    if (inside) {
      sorted[next + rank] = item;
      if (rank == 0)
        atomic_store_explicit(&of_group[group][digit], next + popcount(lanes),
                              memory_order_relaxed);
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = member; i < count; i += kRadixThreads) {
    const Item item = sorted[i];
    out[moves[digit_of(item, p.shift)] + i] = item;
  }
}

#define RADIX_ITEMS(host, positions, name, T) \
  MLX_KERNEL(#host "Items_" #name, radix_items<T, positions>)
MLX_FOR_ALL(RADIX_ITEMS, Sort, false)
MLX_FOR_ALL(RADIX_ITEMS, ArgSort, true)
#define RADIX(bytes, Item)                             \
  MLX_KERNEL("RadixCount_" #bytes, radix_count<Item>) \
  MLX_KERNEL("RadixMove_" #bytes, radix_move<Item>)
RADIX(4, uint)
RADIX(8, ulong)
RADIX(16, WideItem)
