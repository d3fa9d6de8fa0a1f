// Reductions with a fixed order of additions: row (the reduced elements are contiguous: a
// SIMD-group computes two outputs), column (the kept ones are contiguous) and general; in these a
// thread computes one output.
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/lanes.h"
#include "mlx/backend/metal/kernels/reduce.h"
#include "mlx/backend/metal/kernels/reduce_ops.h"

inline int64_t outer_offset(constant const ReduceParams& p, uint index) {
  int64_t offset = 0;
  for (int d = p.outer_ndim - 1; d >= 0; --d) {
    uint extent = p.outer_shape[d];
    offset += (index % extent) * p.outer_stride[d];
    index /= extent;
  }
  return offset;
}

inline int64_t kept_offset(constant const ReduceParams& p, uint x, uint y, uint z) {
  return x * p.kept_stride[0] + y * p.kept_stride[1] + (z % p.third_extent) * p.kept_stride[2] +
         (z / p.third_extent) * p.kept_stride[3];
}

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

// Chunks of N rows of equal length: `in` points to each row's first element.
template <typename Op, int N, typename T, typename A>
inline void reduce_lines(constant const ReduceParams& p, const device T* const thread (&in)[N],
                         thread const Chunk* chunks, uint lane, thread A* acc) {
  const uint length = chunks[0].inner_end - chunks[0].inner_begin;
  for (uint o = 0; o < chunks[0].outer_end - chunks[0].outer_begin; ++o) {
    const device T* lines[N];
    for (int n = 0; n < N; ++n) {
      lines[n] = in[n] + outer_offset(p, chunks[n].outer_begin + o) + chunks[n].inner_begin;
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
template <typename Op, typename T, typename U>
[[kernel]] void reduce_row(const device T* in [[buffer(0)]], device U* out [[buffer(1)]],
                           constant const ReduceParams& p [[buffer(2)]],
                           uint3 pos [[thread_position_in_grid]],
                           uint lane [[thread_index_in_simdgroup]]) {
  using A = compute_t<U>;
  const uint x = pos.x / kLanes;
  const uint y = pos.y % p.kept[1];
  const uint split = pos.y / p.kept[1];
  const uint other_x = p.splits > 1 ? x : x + p.kept[0] / 2;
  const uint other_split = split + p.splits / 2;
  const device T* rows[] = {in + kept_offset(p, x, y, pos.z),
                            in + kept_offset(p, other_x, y, pos.z)};
  const Chunk chunks[] = {Chunk(p, split), Chunk(p, other_split)};
  A acc[] = {Op::template neutral<A>(), Op::template neutral<A>()};
  if (chunks[0].size() == chunks[1].size()) {
    reduce_lines<Op, 2>(p, rows, chunks, lane, acc);
  } else {  // the last chunk is shorter
    reduce_lines<Op, 1>(p, {rows[0]}, chunks, lane, acc);
    reduce_lines<Op, 1>(p, {rows[1]}, chunks + 1, lane, acc + 1);
  }
  acc[0] = reduce_lanes<Op>(acc[0]);
  acc[1] = reduce_lanes<Op>(acc[1]);
  if (lane == 0) {
    const int64_t line =
        static_cast<int64_t>(p.kept[0]) * (y + static_cast<int64_t>(p.kept[1]) * pos.z);
    out[split * p.row + line + x] = convert<U>(acc[0]);
    out[other_split * p.row + line + other_x] = convert<U>(acc[1]);
  }
}

template <typename Op, typename T, typename U>
[[kernel]] void reduce_column(const device T* in [[buffer(0)]], device U* out [[buffer(1)]],
                              constant const ReduceParams& p [[buffer(2)]],
                              uint3 pos [[thread_position_in_grid]]) {
  using A = compute_t<U>;
  uint y = pos.y % p.kept[1];
  uint split = pos.y / p.kept[1];
  Chunk chunk(p, split);
  in += kept_offset(p, 0, y, pos.z);
  A acc = Op::template neutral<A>();
  for (uint o = chunk.outer_begin; o < chunk.outer_end; ++o) {
    const device T* line = in + outer_offset(p, o);
    for (uint i = chunk.inner_begin; i < chunk.inner_end; ++i) {
      acc = Op::apply(acc, convert<A>((line + i * p.inner_stride)[pos.x]));
    }
  }
  int64_t index = pos.x + p.kept[0] * (y + static_cast<int64_t>(p.kept[1]) * pos.z);
  out[split * p.row + index] = convert<U>(acc);
}

template <typename Op, typename T, typename U>
[[kernel]] void reduce_general(const device T* in [[buffer(0)]], device U* out [[buffer(1)]],
                               constant const ReduceParams& p [[buffer(2)]],
                               uint3 pos [[thread_position_in_grid]]) {
  using A = compute_t<U>;
  uint y = pos.y % p.kept[1];
  uint split = pos.y / p.kept[1];
  Chunk chunk(p, split);
  in += kept_offset(p, pos.x, y, pos.z);
  A acc = Op::template neutral<A>();
  for (uint o = chunk.outer_begin; o < chunk.outer_end; ++o) {
    const device T* line = in + outer_offset(p, o);
    for (uint i = chunk.inner_begin; i < chunk.inner_end; ++i) {
      acc = Op::apply(acc, convert<A>(line[i * p.inner_stride]));
    }
  }
  int64_t index = pos.x + p.kept[0] * (y + static_cast<int64_t>(p.kept[1]) * pos.z);
  out[split * p.row + index] = convert<U>(acc);
}

#define REDUCE_AS(Op, in_name, T, out_name, U)                               \
  MLX_KERNEL(#Op "_row_" #in_name "_" #out_name, reduce_row<Op, T, U>)       \
  MLX_KERNEL(#Op "_column_" #in_name "_" #out_name, reduce_column<Op, T, U>) \
  MLX_KERNEL(#Op "_general_" #in_name "_" #out_name, reduce_general<Op, T, U>)
#define REDUCE(Op, name, T) REDUCE_AS(Op, name, T, name, T)

// 16-bit floats keep float between two passes; sums and products of small integers widen.
#define REDUCE_WIDENING(Op)                                                        \
  REDUCE_AS(Op, float16, half, float32, float)                                     \
  REDUCE_AS(Op, bfloat16, bfloat16_t, float32, float)                              \
  MLX_KERNEL(#Op "_column_float32_float16", reduce_column<Op, float, half>)        \
  MLX_KERNEL(#Op "_column_float32_bfloat16", reduce_column<Op, float, bfloat16_t>) \
  REDUCE_AS(Op, bool_, bool, int32, int32_t)                                       \
  REDUCE_AS(Op, int8, int8_t, int32, int32_t)                                      \
  REDUCE_AS(Op, int16, int16_t, int32, int32_t)                                    \
  REDUCE_AS(Op, uint8, uint8_t, int32, int32_t)                                    \
  REDUCE_AS(Op, uint16, uint16_t, int32, int32_t)                                  \
  REDUCE_AS(Op, uint8, uint8_t, uint32, uint32_t)                                  \
  REDUCE_AS(Op, uint16, uint16_t, uint32, uint32_t)

MLX_FOR_ALL(REDUCE, Sum)
MLX_FOR_ALL(REDUCE, Prod)
MLX_FOR_ALL(REDUCE, Min)
MLX_FOR_ALL(REDUCE, Max)
MLX_FOR_BOOL(REDUCE, And)
MLX_FOR_BOOL(REDUCE, Or)
REDUCE_WIDENING(Sum)
REDUCE_WIDENING(Prod)
