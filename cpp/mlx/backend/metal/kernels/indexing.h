// Parameters of the gather and scatter kernels; filled by the host.
#pragma once

#ifdef __METAL_VERSION__
#include "mlx/backend/metal/kernels/utils.h"
#else
#include <cstdint>
#endif

// The most dimensions that NumPy's arrays have.
enum { kMaxSliceDimensions = 64 };

// Elements of a long slice that one SIMD-group scatters.
enum { kScatterStretch = 2048 };

// The most bytes of a line that gather_staged_lines takes: half of a small first-level cache.
enum { kStagedBytes = 16384 };

// Where in an array the slice of an index begins. Small, so that GPUs get it with the launch.
struct IndexedAxis {
  int64_t length;       // negative indices count from the axis' end
  int64_t limit;        // one past the last index at which a slice fits
  int64_t stride;       // what an index is multiplied by
  uint32_t slice_size;  // elements of a slice
};

// A slice taken at each index: its (collapsed) shape and its strides in the array, outermost first.
struct SliceParams {
  int64_t stride[kMaxSliceDimensions];
  int32_t shape[kMaxSliceDimensions];
  int32_t ndim;
  uint32_t size;    // elements of a slice
  uint32_t count;   // number of indices
  uint32_t owners;  // scatter: the threads that share out the indices
};

// An array (outer, axis, inner) from which elements are taken along the axis, and the strides of
// the indices.
struct AxisParams {
  int32_t length;  // of the axis
  int64_t axis_stride;
  int64_t outer_stride;
  int64_t index_axis_stride;
  int64_t index_stride;  // along the axes before `axis`
};

#ifdef __METAL_VERSION__

// A negative index counts from the end.
template <typename I>
inline int64_t wrap_index(I index, int64_t size) {
  int64_t i = static_cast<int64_t>(index);
  return i < 0 ? i + size : i;
}

inline int64_t clamp_index(int64_t i, int64_t size) { return i < 0 ? 0 : i >= size ? size - 1 : i; }

// The first element of an index's slice.
template <typename I>
inline int64_t slice_start(I index, constant const IndexedAxis& axis) {
  return clamp_index(wrap_index(index, axis.length), axis.limit) * axis.stride;
}

// The matrix, of `count`, that a list of indices has for a pair.
inline uint listed(const device int* indices, uint pair, uint count) {
  return static_cast<uint>(clamp_index(wrap_index(indices[pair], count), count));
}

// Wraps and clamps an index on an axis whose length is an int, in the index's own width.
template <typename I>
inline int place_on_axis(I index, int length) {
  if (is_unsigned_v<I>) {
    using Wide = conditional_t<sizeof(I) == 8, uint64_t, uint>;
    return static_cast<int>(min(static_cast<Wide>(index), static_cast<Wide>(length - 1)));
  }
  using Wide = conditional_t<sizeof(I) == 8, int64_t, int>;
  const Wide i = static_cast<Wide>(index);
  return static_cast<int>(clamp(i < 0 ? i + length : i, Wide(0), Wide(length - 1)));
}

inline int64_t slice_offset(constant const SliceParams& p, uint element) {
  int64_t offset = 0;
  for (int d = p.ndim - 1; d >= 0; --d) {
    uint extent = p.shape[d];
    offset += (element % extent) * p.stride[d];
    element /= extent;
  }
  return offset;
}

#endif
