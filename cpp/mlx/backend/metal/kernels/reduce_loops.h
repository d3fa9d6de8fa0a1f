// The loops of reductions, with a fixed order of additions: row (the reduced elements are
// contiguous: a SIMD-group computes two outputs), column (the kept ones are contiguous) and
// general; in these a thread computes one output. They read an array, or what a fused chain
// computes.
#pragma once

#include "mlx/backend/metal/kernels/lanes.h"
#include "mlx/backend/metal/kernels/reduce.h"
#include "mlx/backend/metal/kernels/types.h"

// A place in arrays whose elements have `N` orders.
template <int N>
struct Offsets {
  int64_t of[N];
};

template <int N>
inline Offsets<N> kept_offsets(constant const ReduceParams& p,
                               constant const ReduceStrides* strides, uint x, uint y, uint z) {
  const uint third = z % p.third_extent;
  const uint fourth = z / p.third_extent;
  Offsets<N> at;
  for (int n = 0; n < N; ++n) {
    constant const int64_t* stride = strides[n].kept;
    at.of[n] = x * stride[0] + y * stride[1] + third * stride[2] + fourth * stride[3];
  }
  return at;
}

template <int N>
inline Offsets<N> outer_offsets(constant const ReduceParams& p,
                                constant const ReduceStrides* strides, uint index) {
  Offsets<N> at = {};
  for (int d = p.outer_ndim - 1; d >= 0; --d) {
    const uint extent = p.outer_shape[d];
    const uint place = index % extent;
    for (int n = 0; n < N; ++n) {
      at.of[n] += place * strides[n].outer[d];
    }
    index /= extent;
  }
  return at;
}

template <int N>
inline Offsets<N> inner_offsets(constant const ReduceStrides* strides, uint index) {
  Offsets<N> at;
  for (int n = 0; n < N; ++n) {
    at.of[n] = index * strides[n].inner;
  }
  return at;
}

// What the loops read: they add offsets, and then read elements side by side from there. The
// generated kernels have another such struct (backend/metal/compiled_reduce_kernels.cpp).
template <typename T>
struct Elements {
  static constexpr constant int kSets = 1;
  const device T* at;
  Elements operator+(Offsets<1> by) const { return {at + by.of[0]}; }
  T operator[](uint i) const { return at[i]; }
};

// The chunk of the two loops that a split covers.
struct Chunk {
  uint inner_begin, inner_end, outer_begin, outer_end;
  Chunk(constant const ReduceParams& p, uint split) {
    inner_begin = split * p.inner_chunk;
    inner_end = min(p.inner, inner_begin + p.inner_chunk);
    outer_begin = split * p.outer_chunk;
    outer_end = min(p.outer, outer_begin + p.outer_chunk);
    if (p.inner_chunk == 0) {
      inner_begin = 0;
      inner_end = p.inner;
    }
    if (p.outer_chunk == 0) {
      outer_begin = 0;
      outer_end = p.outer;
    }
  }

  uint64_t size() const {
    return static_cast<uint64_t>(inner_end - inner_begin) * (outer_end - outer_begin);
  }
};

// Chunks of N rows of equal length: `in` are the rows' first elements.
template <typename Op, int N, typename In, typename A>
inline void reduce_lines(constant const ReduceParams& p, constant const ReduceStrides* strides,
                         const thread In (&in)[N], thread const Chunk* chunks, uint lane,
                         thread A* acc) {
  const uint length = chunks[0].inner_end - chunks[0].inner_begin;
  for (uint o = 0; o < chunks[0].outer_end - chunks[0].outer_begin; ++o) {
    In lines[N];
    for (int n = 0; n < N; ++n) {
      lines[n] = in[n] + outer_offsets<In::kSets>(p, strides, chunks[n].outer_begin + o) +
                 inner_offsets<In::kSets>(strides, chunks[n].inner_begin);
    }
    for_each_of_lane(0, length, lane, [&](uint i) {
      for (int n = 0; n < N; ++n) {
        acc[n] = Op::apply(acc[n], convert<A>(lines[n][i]));
      }
    });
  }
}

// Two streams of memory are faster than one: a SIMD-group reads two rows, which are half of all
// rows apart. If their number is odd, the middle row is read twice.
template <typename Op, typename In, typename U>
inline void row_loop(In in, device U* out, constant const ReduceParams& p,
                     constant const ReduceStrides* strides, uint3 pos, uint lane) {
  using A = typename Op::template combined_t<U>;
  const uint x = pos.x / kLanes;
  const uint y = pos.y % p.kept[1];
  const uint split = pos.y / p.kept[1];
  const uint other_x = p.splits > 1 ? x : x + p.kept[0] / 2;
  const uint other_split = split + p.splits / 2;
  const In rows[] = {in + kept_offsets<In::kSets>(p, strides, x, y, pos.z),
                     in + kept_offsets<In::kSets>(p, strides, other_x, y, pos.z)};
  const Chunk chunks[] = {Chunk(p, split), Chunk(p, other_split)};
  A acc[] = {Op::template neutral<A>(), Op::template neutral<A>()};
  if (chunks[0].size() == chunks[1].size()) {
    reduce_lines<Op, 2>(p, strides, rows, chunks, lane, acc);
  } else {  // the last chunk is shorter
    const In first[] = {rows[0]};
    const In second[] = {rows[1]};
    reduce_lines<Op, 1>(p, strides, first, chunks, lane, acc);
    reduce_lines<Op, 1>(p, strides, second, chunks + 1, lane, acc + 1);
  }
  acc[0] = reduce_lanes<Op>(acc[0]);
  acc[1] = reduce_lanes<Op>(acc[1]);
  if (lane == 0) {
    const int64_t line =
        static_cast<int64_t>(p.kept[0]) * (y + static_cast<int64_t>(p.kept[1]) * pos.z);
    out[split * p.row + line + x] = Op::template result<U>(acc[0], p.divisor);
    out[other_split * p.row + line + other_x] = Op::template result<U>(acc[1], p.divisor);
  }
}

// One output: its elements are at `index` of each line.
template <typename Op, typename In, typename U>
inline void reduce_thread(In in, uint index, device U* out, constant const ReduceParams& p,
                          constant const ReduceStrides* strides, uint3 pos) {
  using A = typename Op::template combined_t<U>;
  const uint y = pos.y % p.kept[1];
  const uint split = pos.y / p.kept[1];
  const Chunk chunk(p, split);
  in = in + kept_offsets<In::kSets>(p, strides, pos.x - index, y, pos.z);
  A acc = Op::template neutral<A>();
  for (uint o = chunk.outer_begin; o < chunk.outer_end; ++o) {
    const In line = in + outer_offsets<In::kSets>(p, strides, o);
    for (uint i = chunk.inner_begin; i < chunk.inner_end; ++i) {
      acc = Op::apply(acc, convert<A>((line + inner_offsets<In::kSets>(strides, i))[index]));
    }
  }
  const int64_t place = pos.x + p.kept[0] * (y + static_cast<int64_t>(p.kept[1]) * pos.z);
  out[split * p.row + place] = Op::template result<U>(acc, p.divisor);
}

template <typename Op, typename In, typename U>
inline void column_loop(In in, device U* out, constant const ReduceParams& p,
                        constant const ReduceStrides* strides, uint3 pos, uint) {
  reduce_thread<Op>(in, pos.x, out, p, strides, pos);
}

template <typename Op, typename In, typename U>
inline void general_loop(In in, device U* out, constant const ReduceParams& p,
                         constant const ReduceStrides* strides, uint3 pos, uint) {
  reduce_thread<Op>(in, 0, out, p, strides, pos);
}
