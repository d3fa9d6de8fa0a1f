// Scans along an axis of a contiguous array (outer, length, inner): a thread scans one line, or a
// SIMD-group a row, whose elements are contiguous.
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/lanes.h"
#include "mlx/backend/metal/kernels/reduce_ops.h"

struct ScanShape {
  uint32_t length;
  uint32_t inner;
  uint32_t reverse;
  uint32_t inclusive;
};

template <typename Op, typename T, typename U>
[[kernel]] void scan(const device T* in [[buffer(0)]], device U* out [[buffer(1)]],
                     constant const ScanShape& shape [[buffer(2)]],
                     uint2 pos [[thread_position_in_grid]]) {
  using A = compute_t<U>;
  int64_t first = static_cast<int64_t>(pos.y) * shape.length * shape.inner + pos.x;
  int64_t step = shape.inner;
  if (shape.reverse) {
    first += static_cast<int64_t>(shape.length - 1) * shape.inner;
    step = -step;
  }
  A acc = Op::template neutral<A>();
  for (uint i = 0; i < shape.length; ++i) {
    int64_t at = first + i * step;
    A next = Op::apply(acc, convert<A>(in[at]));
    out[at] = convert<U>(shape.inclusive ? next : acc);
    acc = next;
  }
}

template <typename T>
inline T from_lane_below(T value, ushort distance) {
  return simd_shuffle_up(value, distance);
}
inline complex64_t from_lane_below(complex64_t value, ushort distance) {
  return complex64_t(simd_shuffle_up(value.real, distance), simd_shuffle_up(value.imag, distance));
}

template <typename T>
inline T last_lane(T value) {
  return simd_broadcast(value, ushort(kLanes - 1));
}
inline complex64_t last_lane(complex64_t value) {
  return complex64_t(simd_broadcast(value.real, ushort(kLanes - 1)),
                     simd_broadcast(value.imag, ushort(kLanes - 1)));
}

// An inclusive scan over the lanes (Hillis and Steele, 1986).
template <typename Op, typename A>
inline A scan_lanes(A value, uint lane) {
  for (ushort distance = 1; distance < kLanes; distance *= 2) {
    A below = from_lane_below(value, distance);
    value = lane >= distance ? Op::apply(below, value) : value;
  }
  return value;
}

// Scans a row forward (Step 1) or backward (Step -1), from the first element in that order on.
template <typename Op, int Step, typename T, typename U>
inline void scan_one_row(const device T* in, device U* out, uint length, bool inclusive, uint lane) {
  using A = compute_t<U>;
  A carry = Op::template neutral<A>();
  auto scan_some = [&](A value) {
    A upto = scan_lanes<Op>(value, lane);
    A before = from_lane_below(upto, 1);
    before = lane == 0 ? Op::template neutral<A>() : before;
    A result = Op::apply(carry, inclusive ? upto : before);
    carry = Op::apply(carry, last_lane(upto));
    return result;
  };
  uint i = 0;
  for (; i + kLanes <= length; i += kLanes) {
    const int64_t at = Step * static_cast<int64_t>(i + lane);
    out[at] = convert<U>(scan_some(convert<A>(in[at])));
  }
  if (i < length) {
    const int64_t at = Step * static_cast<int64_t>(i + lane);
    const bool inside = i + lane < length;
    A result = scan_some(inside ? convert<A>(in[at]) : Op::template neutral<A>());
    if (inside) out[at] = convert<U>(result);
  }
}

template <typename Op, typename T, typename U>
[[kernel]] void scan_row(const device T* in [[buffer(0)]], device U* out [[buffer(1)]],
                         constant const ScanShape& shape [[buffer(2)]],
                         uint position [[thread_position_in_grid]],
                         uint lane [[thread_index_in_simdgroup]]) {
  const int64_t first = static_cast<int64_t>(position / kLanes) * shape.length;
  if (shape.reverse) {
    const int64_t last = first + shape.length - 1;
    scan_one_row<Op, -1>(in + last, out + last, shape.length, shape.inclusive, lane);
  } else {
    scan_one_row<Op, 1>(in + first, out + first, shape.length, shape.inclusive, lane);
  }
}

#define SCAN_AS(Op, in_name, T, out_name, U)                        \
  MLX_KERNEL("Scan" #Op "_" #in_name "_" #out_name, scan<Op, T, U>) \
  MLX_KERNEL("ScanRow" #Op "_" #in_name "_" #out_name, scan_row<Op, T, U>)
#define SCAN(Op, name, T) SCAN_AS(Op, name, T, name, T)
MLX_FOR_ALL(SCAN, Sum)
MLX_FOR_ALL(SCAN, Prod)
MLX_FOR_ALL(SCAN, Min)
MLX_FOR_ALL(SCAN, Max)
MLX_FOR_FLOATS(SCAN, LogSum)
MLX_FOR_COMPLEX(SCAN, LogSum)
SCAN_AS(Sum, bool_, bool, int32, int32_t)
SCAN_AS(Prod, bool_, bool, int32, int32_t)
