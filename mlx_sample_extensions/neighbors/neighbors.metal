// The search of trees for neighbours: a SIMD-group for each query. All its lanes are at the same
// node; in a leaf, each lane tests a point of its own.
#include <metal_stdlib>

#include "mlx/backend/metal/kernels/utils.h"
#include "neighbors/sizes.h"

using namespace metal;

constant bool in_registers [[function_constant(0)]];  // whether the list is: k <= 32
constant bool counts_all [[function_constant(1)]];  // also points beyond the k nearest
constant int few_dims [[function_constant(2)]];       // the number of coordinates, or 0: any

constant int none = 0x7fffffff;

METAL_FUNC uint lanes_with(bool predicate) { return uint(uint64_t(simd_ballot(predicate))); }

struct Entry {
  float square;
  int index;

  METAL_FUNC bool is_before(Entry other) const {
    return square < other.square || (square == other.square && index < other.index);
  }
};

METAL_FUNC Entry last_of(Entry own) {
  return {simd_broadcast(own.square, NEIGHBOR_LANES - 1),
          simd_broadcast(own.index, NEIGHBOR_LANES - 1)};
}

// The nearest points so far, in order: a row of k, whose last entry is in the last lane. Lanes
// before the first hold an entry that comes before all others.
struct Nearest {
  device float* squares;
  device int* indices;
  int k;
  uint lane;
  Entry own;    // of this lane, if the row is in registers
  Entry worst;  // of all

  METAL_FUNC Nearest(device float* squares, device int* indices, int k, uint lane)
      : squares(squares), indices(indices), k(k), lane(lane), own{-1, -1} {
    for (int start = first(); start < k; start += NEIGHBOR_LANES) {
      const bool there = in_row(start);
      own = {there ? INFINITY : -1, there ? none : -1};
      store(start, own);
    }
    worst = last_of(own);
  }

  // The position in the row of the first lane's entry: of the first 32 lanes, and of all.
  METAL_FUNC int first() const {
    return k - (k + NEIGHBOR_LANES - 1) / NEIGHBOR_LANES * NEIGHBOR_LANES;
  }
  METAL_FUNC bool in_row(int start) const { return start + int(lane) >= 0; }

  METAL_FUNC Entry load(int start) const {
    if (in_registers) return own;
    const bool there = in_row(start);
    return {there ? (squares + start)[lane] : -1, there ? (indices + start)[lane] : -1};
  }
  METAL_FUNC void store(int start, Entry entry) {
    if (!in_registers && in_row(start)) {
      (squares + start)[lane] = entry.square;
      (indices + start)[lane] = entry.index;
    }
  }

  // Each 32 entries of the row insert the new entry, and pass their last one on to the next 32.
  METAL_FUNC void add(Entry entry) {
    for (int start = first(); start < k; start += NEIGHBOR_LANES) {
      own = load(start);
      const Entry last = last_of(own);
      if (!entry.is_before(last)) continue;
      const Entry previous = {simd_shuffle_up(own.square, 1), simd_shuffle_up(own.index, 1)};
      const bool stays = own.is_before(entry);
      const bool follows = lane == 0 || previous.is_before(entry);
      own.square = stays ? own.square : follows ? entry.square : previous.square;
      own.index = stays ? own.index : follows ? entry.index : previous.index;
      store(start, own);
      entry = last;
    }
    worst = last_of(own);
  }

  // Converts the row to the results; returns the number of its entries.
  METAL_FUNC int finish() {
    int found = 0;
    for (int start = first(); start < k; start += NEIGHBOR_LANES) {
      own = load(start);
      const bool there = in_row(start) && own.index != none;
      if (in_row(start)) {
        (squares + start)[lane] = there ? sqrt(own.square) : INFINITY;
        (indices + start)[lane] = there ? own.index : -1;
      }
      found += popcount(lanes_with(there));
    }
    return found;
  }
};

// A tree and a query.
struct Search {
  const device float* boxes;
  const device float* leaves;
  const device int* starts;
  const device int* order;
  const device float* query;
  int dims;
  int inner;
  int stride;
  float limit;
  float slack;

  METAL_FUNC bool is_finite() const {
    bool finite = true;
    for (int k = 0; k < dims; ++k) finite = finite && isfinite(query[k]);
    return finite;
  }

  // The squared distance to the box of a node; nodes are numbered from 1.
  METAL_FUNC float to_box(int node) const {
    const device float* box = boxes + size_t(node - 1) * 2 * dims;
    float sum = 0;
    for (int k = 0; k < dims; ++k) {
      const float gap = max(max(box[k] - query[k], query[k] - box[dims + k]), 0.0f);
      sum = fma(gap, gap, sum);
    }
    return sum;
  }

  METAL_FUNC float to_point(const device float* leaf, uint lane) const {
    float sum = 0;
    for (int k = 0; k < dims; ++k) {
      const float difference = (leaf + k * stride)[lane] - query[k];
      sum = fma(difference, difference, sum);
    }
    return sum;
  }

  // Tests the points of a leaf; returns how many are within the limit.
  METAL_FUNC int visit(int leaf, thread Nearest& nearest) const {
    const int first = starts[leaf];
    const int points = starts[leaf + 1] - first;
    const device float* coordinates = leaves + size_t(leaf) * dims * stride;
    int seen = 0;
    for (int base = 0; base < points; base += NEIGHBOR_LANES) {
      const float square = to_point(coordinates + base, nearest.lane);
      const bool within = base + int(nearest.lane) < points && square <= limit;
      if (counts_all) seen += popcount(lanes_with(within));
      uint candidates = lanes_with(within && square <= nearest.worst.square);
      while (candidates != 0) {
        const int other = ctz(candidates);
        candidates &= candidates - 1;
        const Entry entry = {simd_shuffle(square, other), order[first + base + other]};
        if (entry.is_before(nearest.worst)) nearest.add(entry);
      }
    }
    return seen;
  }

  // Descends to the nearest leaf, then climbs, and descends again wherever the other half of a node
  // is near enough. Bit i of `waiting` is set if that half, i levels above, is not yet searched.
  METAL_FUNC int find(thread Nearest& nearest) const {
    int seen = 0;
    uint node = 1;
    uint waiting = 0;
    while (true) {
      while (int(node) <= inner) {
        node = 2 * node + (to_box(2 * node + 1) < to_box(2 * node));
        waiting = 2 * waiting + 1;
      }
      seen += visit(node - 1 - inner, nearest);
      bool near = false;
      while (waiting != 0 && !near) {
        const int levels = ctz(waiting);
        node = (node >> levels) ^ 1;
        waiting = (waiting >> levels) ^ 1;
        near = to_box(node) * slack <= (counts_all ? limit : min(limit, nearest.worst.square));
      }
      if (!near) return seen;
    }
  }
};

// The cloud of a query.
METAL_FUNC int cloud_of(int query, const device int* offsets, int clouds) {
  int low = 0;
  int high = clouds - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (offsets[middle + 1] <= query) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

[[kernel]] void find_neighbors(
    constant const NeighborSizes& sizes [[buffer(0)]],
    const device CloudTree* trees [[buffer(1)]],
    const device float* coordinates [[buffer(2)]],
    const device int* numbers [[buffer(3)]],  // first the order of the queries
    const device int* offsets [[buffer(4)]],
    const device float* queries [[buffer(5)]],
    device int* indices [[buffer(6)]],
    device float* distances [[buffer(7)]],
    device int* counts [[buffer(8)]],
    uint group [[threadgroup_position_in_grid]],
    uint simd_group [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]) {
  const int place = group * NEIGHBOR_SIMDGROUPS + simd_group;
  if (place >= sizes.queries) return;
  const size_t query = numbers[place];
  const device CloudTree& tree = trees[cloud_of(place, offsets, sizes.clouds)];
  const int dims = few_dims > 0 ? few_dims : sizes.dims;
  const Search search = {
      coordinates + tree.boxes,
      coordinates + tree.leaves,
      numbers + tree.starts,
      numbers + tree.order,
      queries + query * dims,
      dims,
      tree.inner,
      tree.stride,
      sizes.limit,
      sizes.slack};
  Nearest nearest(distances + query * sizes.k, indices + query * sizes.k, sizes.k, lane);
  const int seen = search.is_finite() ? search.find(nearest) : 0;
  const int found = nearest.finish();
  if (lane == 0) counts[query] = counts_all ? seen : found;
}
