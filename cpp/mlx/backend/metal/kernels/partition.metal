// Partitions lines of a contiguous array, each by a threadgroup. It finds the key of the element
// at `kth` by a digit at a time, from the highest: elements are counted by their digit, and those
// with the digit that holds the place go on. Then smaller, equal and larger elements are moved, each
// kind in its order. Few elements before or behind `kth` are sorted, too.
#include "mlx/backend/metal/kernels/counts_before.h"
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/sort_in_threadgroup.h"
#include "mlx/backend/metal/kernels/sort_items.h"
#include "mlx/backend/metal/kernels/sort_params.h"

// Additions to the same count wait for each other. So a digit has many bits: the first one of a float
// has some of its fraction, too, since many elements have the same exponent.
constant constexpr uint kDigitBits = 11;
constant constexpr uint kDigits = 1 << kDigitBits;
constant constexpr uint kGroups = kPartitionThreads / kLanes;

// The key of the element at a place in a line.
template <typename Key>
struct Found {
  Key key;
  uint smaller;  // elements with smaller keys
  uint equal;    // elements with this key
};

// The elements of each digit, and the digit that holds the place.
struct Counts {
  atomic_uint of_digit[kDigits];
  uint of_group[kGroups];  // of the digits of a SIMD-group
  uint digit, before, count;
};

// Finds the digit that holds the place. A thread has digits that follow each other.
inline void find_digit(threadgroup Counts& counts, uint place, uint member) {
  constexpr uint own = kDigits / kPartitionThreads;
  uint of_own[own], sum = 0;
  for (uint i = 0; i < own; ++i) {
    of_own[i] = atomic_load_explicit(&counts.of_digit[member * own + i], memory_order_relaxed);
    sum += of_own[i];
  }
  uint before = sum_before(sum, member, counts.of_group);
  for (uint i = 0; i < own; ++i) {
    if (before <= place && place < before + of_own[i]) {
      counts.digit = member * own + i;
      counts.before = before;
      counts.count = of_own[i];
    }
    before += of_own[i];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}

template <typename T>
inline Found<key_t<T>> find(const device T* line, uint length, uint kth, uint member,
                            threadgroup Counts& counts) {
  using Key = key_t<T>;
  Found<Key> found{0, 0, length};
  Key known = 0;  // the bits of the key that are found
  for (uint shift = 8 * sizeof(Key); shift > 0;) {
    const uint bits = min(shift, kDigitBits);
    shift -= bits;
    for (uint i = member; i < kDigits; i += kPartitionThreads)
      atomic_store_explicit(&counts.of_digit[i], 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const uint digits = (1u << bits) - 1;
    for (uint i = member; i < length; i += kPartitionThreads) {
      const Key key = key_of<T, true>(line[i]);
      if (((key ^ found.key) & known) == 0)
        atomic_fetch_add_explicit(&counts.of_digit[uint(key >> shift) & digits], 1,
                                  memory_order_relaxed);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    find_digit(counts, kth - found.smaller, member);
    found.key |= Key(counts.digit) << shift;
    found.smaller += counts.before;
    found.equal = counts.count;
    known |= Key(digits) << shift;
  }
  return found;
}

// How many elements of a kind come before a SIMD-group's own, or before a lane.
struct Before {
  uint smaller, equal;
};

// Where results go: to memory, or first to be sorted.
template <typename Item>
struct Sorted {
  threadgroup Item* items;
  uint first, count;
};

template <typename T, bool Positions>
inline void put(device typename Items<T, Positions>::result* out, const device T* line,
                Sorted<typename Items<T, Positions>::type> sorted, uint place, uint position) {
  if (place - sorted.first < sorted.count) {
    sorted.items[place - sorted.first] = Items<T, Positions>::of(line[position], position);
  } else if constexpr (Positions) {
    out[place] = position;
  } else {
    out[place] = line[position];
  }
}

template <typename T, bool Positions>
[[kernel, max_total_threads_per_threadgroup(kPartitionThreads)]] void partition_line(
    const device T* in [[buffer(0)]],
    device typename Items<T, Positions>::result* out [[buffer(1)]],
    constant const PartitionParams& p [[buffer(2)]], uint row [[threadgroup_position_in_grid]],
    uint member [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]]) {
  using Of = Items<T, Positions>;
  threadgroup Counts counts;
  threadgroup Before of_groups[kGroups];
  threadgroup typename Of::type items[kPartitionSorted];
  const device T* line = in + ulong(row) * p.length;
  out += ulong(row) * p.length;
  const auto found = find(line, p.length, p.kth, member, counts);

  // SIMD-groups have parts of the line.
  const uint group = member / kLanes;
  const uint part = (p.length + kPartitionThreads - 1) / kPartitionThreads * kLanes;
  const uint begin = min(group * part, p.length), end = min(begin + part, p.length);
  Before own{0, 0};
  for (uint i = begin + lane; i < end; i += kLanes) {
    const auto key = key_of<T, true>(line[i]);
    own.smaller += key < found.key;
    own.equal += key == found.key;
  }
  own = {simd_sum(own.smaller), simd_sum(own.equal)};
  if (lane == 0) of_groups[group] = own;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  Before before{0, 0};
  for (uint i = 0; i < group; ++i) {
    before.smaller += of_groups[i].smaller;
    before.equal += of_groups[i].equal;
  }

  const Sorted<typename Of::type> sorted{items, p.sorted_first, p.sorted};
  for (uint first = begin; first < end; first += kLanes) {
    const uint position = first + lane;
    const bool inside = position < end;
    const auto key = inside ? key_of<T, true>(line[position]) : found.key;
    const bool smaller = inside && key < found.key, equal = inside && key == found.key;
    const uint smaller_lanes = lanes_where(smaller), equal_lanes = lanes_where(equal);
    const Before here{before.smaller + count_before(smaller_lanes, lane),
                      before.equal + count_before(equal_lanes, lane)};
    const uint larger = position - here.smaller - here.equal;
    const uint place = smaller ? here.smaller
                       : equal ? found.smaller + here.equal
                               : found.smaller + found.equal + larger;
    if (inside) put<T, Positions>(out, line, sorted, place, position);
    before.smaller += popcount(smaller_lanes);
    before.equal += popcount(equal_lanes);
  }
  if (p.sorted == 0) return;

  uint slots = 1;
  while (slots < p.sorted) slots *= 2;
  for (uint slot = p.sorted + member; slot < slots; slot += kPartitionThreads)
    items[slot] = Of::filling();
  sort_in_threadgroup(items, slots, member, kPartitionThreads);
  for (uint slot = member; slot < p.sorted; slot += kPartitionThreads)
    out[p.sorted_first + slot] = Of::result_of(items[slot], line);
}

#define PARTITION(host, positions, name, T) \
  MLX_KERNEL(#host "_" #name, partition_line<T, positions>)
MLX_FOR_ALL(PARTITION, Partition, false)
MLX_FOR_ALL(PARTITION, ArgPartition, true)
