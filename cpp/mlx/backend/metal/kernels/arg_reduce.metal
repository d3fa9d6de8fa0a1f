// Index of the first minimum or maximum along an axis; a NaN counts as the extreme.
#include "mlx/backend/metal/kernels/binary_ops.h"
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/shared_row.h"

template <typename T>
inline bool is_nan_value(T) {
  return false;
}
inline bool is_nan_value(float x) { return isnan(x); }
inline bool is_nan_value(complex64_t x) { return cisnan(x); }

struct ArgMin {
  template <typename T>
  static bool better(T candidate, T best) {
    return Less::apply(candidate, best);
  }
};
struct ArgMax {
  template <typename T>
  static bool better(T candidate, T best) {
    return Less::apply(best, candidate);
  }
};

// The extreme element met so far.
template <typename A>
struct Best {
  A value;
  uint index;
};

// Without short circuits, which would be branches.
template <typename Op, typename A>
inline bool takes(A candidate, A best) {
  return !is_nan_value(best) & (is_nan_value(candidate) | Op::better(candidate, best));
}

// Output x + X * y starts at element x * stride_x + y * stride_y of the input.
template <typename Op, typename T>
[[kernel]] void arg_reduce(const device T* in [[buffer(0)]], device uint* out [[buffer(1)]],
                           constant const int64_t* strides [[buffer(2)]],
                           constant const uint& length [[buffer(3)]],
                           uint2 pos [[thread_position_in_grid]], uint2 grid [[threads_per_grid]]) {
  using A = compute_t<T>;
  in += pos.x * strides[0] + pos.y * strides[1];
  Best<A> best = {static_cast<A>(in[0]), 0};
  for (uint i = 1; i < length; ++i) {
    A candidate = static_cast<A>(in[i * strides[2]]);
    bool take = takes<Op, A>(candidate, best.value);
    best.value = take ? candidate : best.value;
    best.index = take ? i : best.index;
  }
  out[pos.x + static_cast<int64_t>(grid.x) * pos.y] = best.index;
}

// A SIMD-group takes a contiguous line of at least as many elements as it has lanes.
template <typename Op, typename T>
[[kernel]] void arg_reduce_row(const device T* in [[buffer(0)]], device uint* out [[buffer(1)]],
                               constant const int64_t* strides [[buffer(2)]],
                               constant const uint& length [[buffer(3)]],
                               uint2 pos [[thread_position_in_grid]],
                               uint2 grid [[threads_per_grid]],
                               uint lane [[thread_index_in_simdgroup]]) {
  using A = compute_t<T>;
  const uint line = pos.x / kLanes;
  in += line * strides[0] + pos.y * strides[1];
  Best<A> best = {static_cast<A>(in[lane]), lane};
  for_each_of_lane(kLanes, length, lane, [&](uint i) {
    const A candidate = static_cast<A>(in[i]);
    const bool take = takes<Op, A>(candidate, best.value);
    best.value = take ? candidate : best.value;
    best.index = take ? i : best.index;
  });
  for (ushort distance = kLanes / 2; distance > 0; distance /= 2) {
    const Best<A> other = {from_lane(best.value, distance), from_lane(best.index, distance)};
    const bool take =
        takes<Op, A>(other.value, best.value) |
        ((other.index < best.index) & !takes<Op, A>(best.value, other.value));
    best.value = take ? other.value : best.value;
    best.index = take ? other.index : best.index;
  }
  if (lane == 0) out[line + static_cast<int64_t>(grid.x / kLanes) * pos.y] = best.index;
}

// The better of two elements; the first of equal ones.
template <typename Op, typename T>
inline uint better_index(const device T* in, uint a, uint b, int64_t step = 1) {
  using A = compute_t<T>;
  const A x = static_cast<A>(in[a * step]);
  const A y = static_cast<A>(in[b * step]);
  return takes<Op, A>(y, x) ? b : takes<Op, A>(x, y) ? a : min(a, b);
}

// A chunk of a contiguous line, by a threadgroup. With `Listed`, the line's candidates are given as
// indices: those that an earlier pass has found in chunks.
template <typename Op, typename T, bool Listed>
[[kernel, max_total_threads_per_threadgroup(kArgReduceThreads)]] void arg_reduce_shared(
    const device T* in [[buffer(0)]], device uint* out [[buffer(1)]],
    constant const int64_t* strides [[buffer(2)]], constant const uint& length [[buffer(3)]],
    constant const uint& chunk [[buffer(4)]], const device uint* listed [[buffer(5)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 groups [[threadgroups_per_grid]],
    uint index [[thread_index_in_threadgroup]]) {
  using A = compute_t<T>;
  threadgroup uint found[kArgReduceThreads];
  const int64_t line = group.y + static_cast<int64_t>(groups.y) * group.z;
  in += group.y * strides[0] + group.z * strides[1];
  const auto candidate = [&](uint i) { return Listed ? listed[line * length + i] : i; };
  const uint begin = group.x * chunk, end = length - begin < chunk ? length : begin + chunk;
  const bool has_some = index < end - begin;
  const uint first = candidate(has_some ? begin + index : begin);
  Best<A> best = {static_cast<A>(in[first]), first};
  const uint steps = has_some ? (end - begin - index - 1) / kArgReduceThreads : 0;
  for (uint step = 0; step < steps; ++step) {
    const uint i = candidate(begin + index + (step + 1) * kArgReduceThreads);
    const A value = static_cast<A>(in[i]);
    if (takes<Op, A>(value, best.value)) best = {value, i};
  }
  found[index] = best.index;
  for (uint others = kArgReduceThreads / 2; others > 0; others /= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (index < others) found[index] = better_index<Op>(in, found[index], found[index + others]);
  }
  if (index == 0) out[line * groups.x + group.x] = found[0];
}

// Columns whose elements are neighbours in memory: each lane has one, of which the SIMD-groups of
// the threadgroup take every so many-th element. There are at least as many elements as
// SIMD-groups.
template <typename Op, typename T>
[[kernel, max_total_threads_per_threadgroup(kArgColumnThreads)]] void arg_reduce_columns(
    const device T* in [[buffer(0)]], device uint* out [[buffer(1)]],
    constant const int64_t* strides [[buffer(2)]], constant const uint& length [[buffer(3)]],
    constant const uint& columns [[buffer(4)]], uint2 group [[threadgroup_position_in_grid]],
    uint index [[thread_index_in_threadgroup]]) {
  using A = compute_t<T>;
  constexpr uint kMembers = kArgColumnThreads / kLanes;
  threadgroup uint found[kArgColumnThreads];
  const uint member = index / kLanes, column = group.x * kLanes + index % kLanes;
  in += min(column, columns - 1) * strides[0] + group.y * strides[1];
  Best<A> best = {static_cast<A>(in[member * strides[2]]), member};
  for (uint i = member + kMembers; i < length; i += kMembers) {
    const A value = static_cast<A>(in[i * strides[2]]);
    if (takes<Op, A>(value, best.value)) best = {value, i};
  }
  found[index] = best.index;
  for (uint others = kMembers / 2; others > 0; others /= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (member >= others) continue;
    const uint other = found[index + others * kLanes];
    found[index] = better_index<Op>(in, found[index], other, strides[2]);
  }
  if (member == 0 && column < columns) out[int64_t(group.y) * columns + column] = found[index];
}

#define ARG_REDUCE(Op, name, T)                                    \
  MLX_KERNEL(#Op "_" #name, arg_reduce<Op, T>)                     \
  MLX_KERNEL(#Op "Row_" #name, arg_reduce_row<Op, T>)              \
  MLX_KERNEL(#Op "Shared_" #name, arg_reduce_shared<Op, T, false>) \
  MLX_KERNEL(#Op "Listed_" #name, arg_reduce_shared<Op, T, true>)  \
  MLX_KERNEL(#Op "Columns_" #name, arg_reduce_columns<Op, T>)
MLX_FOR_ALL(ARG_REDUCE, ArgMin)
MLX_FOR_ALL(ARG_REDUCE, ArgMax)
