// Sorts lines of a contiguous array: threadgroups sort tiles,
// then each pass merges pairs of runs, of which each threadgroup finds its part (Green, McColl and
// Bader, "GPU Merge Path", 2012).
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/sort_in_threadgroup.h"
#include "mlx/backend/metal/kernels/sort_items.h"
#include "mlx/backend/metal/kernels/sort_params.h"

// ---- tiles ----

// The line and the position in it of the slots of a tile. A line has `slots`, a tile `in_tile`.
struct TilePlace {
  uint line, position, slots;
  bool has_lines;

  TilePlace(uint tile, uint slots, uint in_tile) : slots(slots), has_lines(slots < in_tile) {
    const uint tiles = slots / in_tile;
    line = tiles > 0 ? tile / tiles : tile * (in_tile / slots);
    position = tiles > 0 ? tile % tiles * in_tile : 0;
  }
  uint line_of(uint slot) const { return has_lines ? line + slot / slots : line; }
  uint position_of(uint slot) const { return has_lines ? slot % slots : position + slot; }
};

// Sorts tiles of `slots` items. With `Whole`, a tile has whole lines, and `out` is the result;
// otherwise it is the items.
template <typename T, bool Positions, bool Whole, uint slots>
[[kernel, max_total_threads_per_threadgroup(slots / kSortOwn)]] void sort_tile(
    const device T* in [[buffer(0)]],
    device conditional_t<Whole, typename Items<T, Positions>::result,
                         typename Items<T, Positions>::type>* out [[buffer(1)]],
    constant const SortParams& p [[buffer(2)]], uint tile [[threadgroup_position_in_grid]],
    uint member [[thread_index_in_threadgroup]]) {
  using Of = Items<T, Positions>;
  constexpr uint threads = slots / kSortOwn;
  threadgroup typename Of::type items[slots];
  const TilePlace place(tile, p.slots, slots);
  for (uint slot = member; slot < slots; slot += threads) {
    const uint line = place.line_of(slot), position = place.position_of(slot);
    const bool inside = line < p.lines && position < p.length;
    items[slot] = inside ? Of::of(in[ulong(line) * p.length + position], position) : Of::filling();
  }
  OwnItems<typename Of::type, kSortOwn, threads> own;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  own.read(items, member);
  own.sort(items, min(p.slots, slots), member);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  own.write(items, member);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint slot = member; slot < slots; slot += threads) {
    if constexpr (Whole) {
      const uint line = place.line_of(slot), position = place.position_of(slot);
      if (line >= p.lines || position >= p.length) continue;
      const ulong first = ulong(line) * p.length;
      out[first + position] = Of::result_of(items[slot], in + first);
    } else {
      out[ulong(tile) * slots + slot] = items[slot];
    }
  }
}

// ---- merging ----

// How many of the first `count` items of two merged runs come from the first run.
template <typename Pointer>
inline uint split_of_merge(Pointer a, uint a_length, Pointer b, uint b_length, uint count) {
  uint low = count > b_length ? count - b_length : 0, high = min(count, a_length);
  while (low < high) {
    const uint middle = (low + high) / 2;
    if (before(b[count - 1 - middle], a[middle])) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Merges a tile in threadgroup memory, where `split` items of the first run come before those of
// the second; each thread merges items that follow each other.
template <typename Item>
inline void merge_in_threadgroup(threadgroup Item* items, uint split, uint member) {
  constexpr uint kOwn = kSortTile / kSortThreads;
  const threadgroup Item* a = items;
  const threadgroup Item* b = items + split;
  const uint b_length = kSortTile - split, first = member * kOwn;
  uint i = split_of_merge(a, split, b, b_length, first), j = first - i;
  Item own[kOwn];
  for (uint k = 0; k < kOwn; ++k) {
    const bool from_b = i == split || (j < b_length && before(b[j], a[i]));
    own[k] = from_b ? b[j++] : a[i++];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < kOwn; ++k) items[first + k] = own[k];
  threadgroup_barrier(mem_flags::mem_threadgroup);
}

template <typename Item>
[[kernel, max_total_threads_per_threadgroup(kSortThreads)]] void merge_runs(
    const device Item* in [[buffer(0)]], device Item* out [[buffer(1)]],
    constant const SortParams& p [[buffer(2)]], uint tile [[threadgroup_position_in_grid]],
    uint member [[thread_index_in_threadgroup]]) {
  threadgroup Item items[kSortTile];
  const TilePlace place(tile, p.slots, kSortTile);
  const uint count = place.position % (2 * p.run);  // merged before this tile
  const uint start = place.position - count, rest = p.slots - start;
  const uint a_length = min(p.run, rest), b_length = min(p.run, rest - a_length);
  const device Item* a = in + ulong(place.line) * p.slots + start;
  const device Item* b = a + a_length;
  const uint from = split_of_merge(a, a_length, b, b_length, count);
  const uint to = split_of_merge(a, a_length, b, b_length, count + kSortTile);
  const uint split = to - from;
  for (uint slot = member; slot < kSortTile; slot += kSortThreads)
    items[slot] = slot < split ? a[from + slot] : b[count - from + (slot - split)];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  merge_in_threadgroup(items, split, member);
  for (uint slot = member; slot < kSortTile; slot += kSortThreads)
    out[ulong(tile) * kSortTile + slot] = items[slot];
}

// Writes the results of sorted items.
template <typename T, bool Positions>
[[kernel]] void sort_results(const device typename Items<T, Positions>::type* items [[buffer(0)]],
                             const device T* in [[buffer(1)]],
                             device typename Items<T, Positions>::result* out [[buffer(2)]],
                             constant const SortParams& p [[buffer(3)]],
                             uint2 place [[thread_position_in_grid]]) {
  const ulong first = ulong(place.y) * p.length;
  out[first + place.x] =
      Items<T, Positions>::result_of(items[ulong(place.y) * p.slots + place.x], in + first);
}

#define SORT(host, positions, name, T)                                        \
  MLX_KERNEL(#host "Lines_" #name, sort_tile<T, positions, true, kSortTile>)  \
  MLX_KERNEL(#host "Tiles_" #name, sort_tile<T, positions, false, kSortTile>) \
  MLX_KERNEL(#host "Results_" #name, sort_results<T, positions>)
MLX_FOR_ALL(SORT, Sort, false)
MLX_FOR_ALL(SORT, ArgSort, true)
// Items of up to 8 bytes, so that twice as many fit into threadgroup memory.
#define SORT_LONGER(host, positions, name, T) \
  MLX_KERNEL(#host "LongerLines_" #name, sort_tile<T, positions, true, 2 * kSortTile>)
MLX_FOR_BOOL(SORT_LONGER, Sort, false)
MLX_FOR_REALS(SORT_LONGER, Sort, false)
SORT_LONGER(ArgSort, true, bool_, bool)
SORT_LONGER(ArgSort, true, uint8, uint8_t)
SORT_LONGER(ArgSort, true, uint16, uint16_t)
SORT_LONGER(ArgSort, true, uint32, uint32_t)
SORT_LONGER(ArgSort, true, int8, int8_t)
SORT_LONGER(ArgSort, true, int16, int16_t)
SORT_LONGER(ArgSort, true, int32, int32_t)
MLX_FOR_FLOATS(SORT_LONGER, ArgSort, true)
MLX_KERNEL("SortMerge_4", merge_runs<uint>)
MLX_KERNEL("SortMerge_8", merge_runs<ulong>)
MLX_KERNEL("SortMerge_16", merge_runs<WideItem>)
