// Reductions of arrays, for each operation and type: the loops of reduce_loops.h, and kernels for
// GPUs, in which threads share outputs.
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/moments.h"
#include "mlx/backend/metal/kernels/reduce_loops.h"
#include "mlx/backend/metal/kernels/reduce_ops.h"

#define REDUCE_KERNEL(layout)                                                                    \
  template <typename Op, typename T, typename U>                                                 \
  [[kernel]] void reduce_##layout(const device T* in [[buffer(0)]], device U* out [[buffer(1)]], \
                                  constant const ReduceParams& p [[buffer(2)]],                  \
                                  constant const ReduceStrides* strides [[buffer(3)]],           \
                                  uint3 pos [[thread_position_in_grid]],                         \
                                  uint lane [[thread_index_in_simdgroup]]) {                     \
    layout##_loop<Op>(Elements<T>{in}, out, p, strides, pos, lane);                              \
  }
REDUCE_KERNEL(row)
REDUCE_KERNEL(column)
REDUCE_KERNEL(general)

// A thread reads so many numbers at once, and combines each with others.
constant constexpr uint kAtOnce = 8;

template <typename Op, typename A>
inline A combined(thread A (&parts)[kAtOnce]) {
  for (uint apart = kAtOnce / 2; apart > 0; apart /= 2) {
    for (uint k = 0; k < apart; ++k) parts[k] = Op::apply(parts[k], parts[k + apart]);
  }
  return parts[0];
}

// Combines in[i * step] for every `apart`-th i from `first` on.
template <typename Op, typename T, typename A>
inline void reduce_apart(const device T* in, int64_t step, uint first, uint end, uint apart,
                         thread A (&parts)[kAtOnce]) {
  uint i = first;
  for (; i + (kAtOnce - 1) * apart < end; i += kAtOnce * apart) {
    for (uint k = 0; k < kAtOnce; ++k)
      parts[k] = Op::apply(parts[k], convert<A>(in[(i + k * apart) * step]));
  }
  if (i >= end) return;
  // Loads without a condition do not wait for each other.
  for (uint k = 0; k < kAtOnce; ++k) {
    const A x = convert<A>(in[min(i + k * apart, end - 1) * step]);
    parts[k] = i + k * apart < end ? Op::apply(parts[k], x) : parts[k];
  }
}

// The place of a threadgroup, or of a SIMD-group: of its outputs, and of what it combines.
struct SharedWork {
  uint y, z, split;
  Chunk chunk;
  SharedWork(constant const ReduceParams& p, uint3 place)
      : y(place.y % p.kept[1]), z(place.z), split(place.y / p.kept[1]), chunk(p, split) {}

  int64_t output(constant const ReduceParams& p, uint x) const {
    return split * p.row + x + p.kept[0] * (y + static_cast<int64_t>(p.kept[1]) * z);
  }
};

// A threadgroup for each output; the reduced elements are contiguous.
template <typename Op, typename T, typename U>
[[kernel, max_total_threads_per_threadgroup(kReduceThreads)]] void reduce_shared(
    const device T* in [[buffer(0)]], device U* out [[buffer(1)]],
    constant const ReduceParams& p [[buffer(2)]],
    constant const ReduceStrides* strides [[buffer(3)]],
    uint3 group [[threadgroup_position_in_grid]], uint index [[thread_index_in_threadgroup]]) {
  using A = typename Op::template combined_t<U>;
  constexpr uint kGroups = kReduceThreads / kLanes;
  threadgroup A of_group[kGroups];
  const SharedWork work(p, group);
  in += kept_offsets<1>(p, strides, group.x, work.y, work.z).of[0];
  A parts[kAtOnce];
  for (thread A& part : parts) part = Op::template neutral<A>();
  for (uint o = work.chunk.outer_begin; o < work.chunk.outer_end; ++o) {
    reduce_apart<Op>(in + outer_offsets<1>(p, strides, o).of[0], 1, work.chunk.inner_begin + index,
                     work.chunk.inner_end, kReduceThreads, parts);
  }
  const A of_lanes = reduce_lanes<Op>(combined<Op>(parts));
  if (index % kLanes == 0) of_group[index / kLanes] = of_lanes;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (index > 0) return;
  A all = of_group[0];
  for (uint i = 1; i < kGroups; ++i) all = Op::apply(all, of_group[i]);
  out[work.output(p, group.x)] = Op::template result<U>(all, p.divisor);
}

// A SIMD-group for each output; the reduced elements are contiguous.
template <typename Op, typename T, typename U>
[[kernel]] void reduce_shared_by_lanes(const device T* in [[buffer(0)]],
                                       device U* out [[buffer(1)]],
                                       constant const ReduceParams& p [[buffer(2)]],
                                       constant const ReduceStrides* strides [[buffer(3)]],
                                       uint3 pos [[thread_position_in_grid]],
                                       uint lane [[thread_index_in_simdgroup]]) {
  using A = typename Op::template combined_t<U>;
  const uint x = pos.x / kLanes;
  const SharedWork work(p, pos);
  in += kept_offsets<1>(p, strides, x, work.y, work.z).of[0];
  A parts[kAtOnce];
  for (thread A& part : parts) part = Op::template neutral<A>();
  for (uint o = work.chunk.outer_begin; o < work.chunk.outer_end; ++o) {
    reduce_apart<Op>(in + outer_offsets<1>(p, strides, o).of[0], 1, work.chunk.inner_begin + lane,
                     work.chunk.inner_end, kLanes, parts);
  }
  const A all = reduce_lanes<Op>(combined<Op>(parts));
  if (lane == 0) out[work.output(p, x)] = Op::template result<U>(all, p.divisor);
}

// A threadgroup for as many neighbouring outputs as a SIMD-group has lanes; their elements are
// neighbours, too.
template <typename Op, typename T, typename U>
[[kernel, max_total_threads_per_threadgroup(kReducePartsOfColumn * kLanes)]] void reduce_columns(
    const device T* in [[buffer(0)]], device U* out [[buffer(1)]],
    constant const ReduceParams& p [[buffer(2)]],
    constant const ReduceStrides* strides [[buffer(3)]],
    uint3 group [[threadgroup_position_in_grid]], uint index [[thread_index_in_threadgroup]]) {
  using A = typename Op::template combined_t<U>;
  threadgroup A of_part[kReducePartsOfColumn * kLanes];
  const SharedWork work(p, group);
  const uint x = group.x * kLanes + index % kLanes, part = index / kLanes;
  A parts[kAtOnce];
  for (thread A& part : parts) part = Op::template neutral<A>();
  if (x < p.kept[0]) {
    in += kept_offsets<1>(p, strides, x, work.y, work.z).of[0];
    for (uint o = work.chunk.outer_begin; o < work.chunk.outer_end; ++o) {
      reduce_apart<Op>(in + outer_offsets<1>(p, strides, o).of[0], strides[0].inner,
                       work.chunk.inner_begin + part, work.chunk.inner_end, kReducePartsOfColumn,
                       parts);
    }
  }
  of_part[index] = combined<Op>(parts);
  for (uint distance = kReducePartsOfColumn / 2; distance > 0; distance /= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (part < distance)
      of_part[index] = Op::apply(of_part[index], of_part[index + distance * kLanes]);
  }
  if (part == 0 && x < p.kept[0])
    out[work.output(p, x)] = Op::template result<U>(of_part[index], p.divisor);
}

#define REDUCE_PARTIALS(Op, in_name, T, out_name, U)                         \
  MLX_KERNEL(#Op "_column_" #in_name "_" #out_name, reduce_column<Op, T, U>) \
  MLX_KERNEL(#Op "_shared_" #in_name "_" #out_name, reduce_shared<Op, T, U>) \
  MLX_KERNEL(#Op "_lanes_" #in_name "_" #out_name, reduce_shared_by_lanes<Op, T, U>) \
  MLX_KERNEL(#Op "_columns_" #in_name "_" #out_name, reduce_columns<Op, T, U>)
#define REDUCE_AS(Op, in_name, T, out_name, U)                                 \
  MLX_KERNEL(#Op "_row_" #in_name "_" #out_name, reduce_row<Op, T, U>)         \
  MLX_KERNEL(#Op "_general_" #in_name "_" #out_name, reduce_general<Op, T, U>) \
  REDUCE_PARTIALS(Op, in_name, T, out_name, U)
#define REDUCE(Op, name, T) REDUCE_AS(Op, name, T, name, T)

// 16-bit floats keep float between two passes; sums and products of small integers widen.
#define REDUCE_WIDENING(Op)                                 \
  REDUCE_AS(Op, float16, half, float32, float)              \
  REDUCE_AS(Op, bfloat16, bfloat16_t, float32, float)       \
  REDUCE_PARTIALS(Op, float32, float, float16, half)        \
  REDUCE_PARTIALS(Op, float32, float, bfloat16, bfloat16_t) \
  REDUCE_AS(Op, bool_, bool, int32, int32_t)                \
  REDUCE_AS(Op, int8, int8_t, int32, int32_t)               \
  REDUCE_AS(Op, int16, int16_t, int32, int32_t)             \
  REDUCE_AS(Op, uint8, uint8_t, int32, int32_t)             \
  REDUCE_AS(Op, uint16, uint16_t, int32, int32_t)           \
  REDUCE_AS(Op, uint8, uint8_t, uint32, uint32_t)           \
  REDUCE_AS(Op, uint16, uint16_t, uint32, uint32_t)

MLX_FOR_ALL(REDUCE, Sum)
MLX_FOR_ALL(REDUCE, Prod)
MLX_FOR_ALL(REDUCE, Min)
MLX_FOR_ALL(REDUCE, Max)
MLX_FOR_BOOL(REDUCE, And)
MLX_FOR_BOOL(REDUCE, Or)
REDUCE_WIDENING(Sum)
REDUCE_WIDENING(Prod)
MLX_FOR_FLOATS(REDUCE, Mean)
MLX_FOR_COMPLEX(REDUCE, Mean)
REDUCE_PARTIALS(Mean, float32, float, float16, half)
REDUCE_PARTIALS(Mean, float32, float, bfloat16, bfloat16_t)

#define REDUCE_VARIANCE(name, T)                           \
  REDUCE(Variance, name, T)                                \
  REDUCE_AS(CombineMoments, name, T, moments, Moments)     \
  REDUCE_PARTIALS(Variance, moments, Moments, name, T)
REDUCE_VARIANCE(float32, float)
REDUCE_VARIANCE(float16, half)
REDUCE_VARIANCE(bfloat16, bfloat16_t)
REDUCE_PARTIALS(CombineMoments, moments, Moments, moments, Moments)
