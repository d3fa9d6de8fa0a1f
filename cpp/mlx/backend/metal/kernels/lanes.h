// Reductions over the lanes of a SIMD-group, and loops that the lanes share.
#pragma once

#include "mlx/backend/metal/kernels/types.h"

constant constexpr uint kLanes = 32;

template <typename T>
inline T from_lane(T value, ushort distance) {
  return simd_shuffle_xor(value, distance);
}
inline complex64_t from_lane(complex64_t value, ushort distance) {
  return complex64_t(simd_shuffle_xor(value.real, distance),
                     simd_shuffle_xor(value.imag, distance));
}

// In a fixed order, with the same result in every lane.
template <typename Op, typename T>
inline T reduce_lanes(T value) {
#pragma clang loop unroll(full)  // exchanges by known distances are fast
  for (ushort distance = kLanes / 2; distance > 0; distance /= 2) {
    value = Op::apply(value, from_lane(value, distance));
  }
  return value;
}

// Prefetches memory that will soon be read; past the end of an array it does nothing.
template <typename T>
inline void prefetch(const device T* place) {
#if __has_builtin(__builtin_prefetch)
  __builtin_prefetch(place);
#endif
}

// Calls f(i) for this lane's part of [begin, end): neighbouring lanes get neighbouring elements.
template <typename F>
inline void for_each_of_lane(uint begin, uint end, uint lane, F f) {
  uint i = begin;
  for (; i + kLanes <= end; i += kLanes) {
    f(i + lane);
  }
  if (i + lane < end) {
    f(i + lane);
  }
}
