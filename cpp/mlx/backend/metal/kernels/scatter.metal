// Scatters with a fixed order of updates: without atomics, so that results are reproducible and
// every type works. A thread computes eight neighbouring elements of the slices (x) for the indices
// whose output positions it owns (y). A SIMD-group does a part of long slices.
#include "mlx/backend/metal/kernels/indexing.h"
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/reduce_ops.h"

struct Assign {
  template <typename T>
  static T apply(T, T b) {
    return b;
  }
};

template <typename Op, typename T>
inline T scatter_apply(T a, T b) {
  return convert<T>(Op::apply(static_cast<compute_t<T>>(a), static_cast<compute_t<T>>(b)));
}

// Distributes output positions over owners evenly, whatever their common divisor is, by the middle
// bits of a product with the golden ratio. Sixteen neighbouring elements, which may be in one cache
// line, have one owner.
inline bool owns(int64_t offset, uint owners, uint me) {
  const uint mixed = static_cast<uint>(offset >> 4) * 0x9E3779B1u;
  return offset >= 0 && ((mixed >> 16) & (owners - 1)) == me;
}

// Slices that are contiguous in the output.
template <typename Op, typename T>
[[kernel]] void scatter_row(const device T* updates [[buffer(0)]],
                            const device int64_t* offsets [[buffer(1)]],
                            device T* out [[buffer(2)]],
                            constant const SliceParams& p [[buffer(3)]],
                            uint2 pos [[thread_position_in_grid]]) {
  uint x = pos.x * 8;
  uint width = min(8u, p.size - x);
  updates += x;
  out += x;
  for (uint i = 0; i < p.count; ++i) {
    int64_t offset = offsets[i];
    if (!owns(offset, p.owners, pos.y)) {
      continue;
    }
    const device T* from = updates + static_cast<int64_t>(i) * p.size;
    device T* to = out + offset;
    if (width == 8) {
      T values[8];
      for (int k = 0; k < 8; ++k) {
        values[k] = scatter_apply<Op, T>(to[k], from[k]);
      }
      for (int k = 0; k < 8; ++k) {
        to[k] = values[k];
      }
    } else {
      for (uint k = 0; k < width; ++k) {
        to[k] = scatter_apply<Op, T>(to[k], from[k]);
      }
    }
  }
}

// The same for long slices: a SIMD-group updates a part of one slice after the other.
template <typename Op, typename T>
[[kernel]] void scatter_long(const device T* updates [[buffer(0)]],
                             const device int64_t* offsets [[buffer(1)]],
                             device T* out [[buffer(2)]],
                             constant const SliceParams& p [[buffer(3)]],
                             uint2 group [[threadgroup_position_in_grid]],
                             uint lane [[thread_index_in_simdgroup]]) {
  const uint first = group.x * kScatterStretch;
  const uint end = min(first + kScatterStretch, p.size);
  for (uint i = 0; i < p.count; ++i) {
    int64_t offset = offsets[i];
    if (!owns(offset, p.owners, group.y)) {
      continue;
    }
    const device T* from = updates + static_cast<int64_t>(i) * p.size;
    device T* to = out + offset;
    for (uint x = first + lane; x < end; x += 32) {
      to[x] = scatter_apply<Op, T>(to[x], from[x]);
    }
  }
}

// Any slices; a thread for each element.
template <typename Op, typename T>
[[kernel]] void scatter_general(const device T* updates [[buffer(0)]],
                                const device int64_t* offsets [[buffer(1)]],
                                device T* out [[buffer(2)]],
                                constant const SliceParams& p [[buffer(3)]],
                                uint2 pos [[thread_position_in_grid]]) {
  updates += pos.x;
  out += slice_offset(p, pos.x);
  for (uint i = 0; i < p.count; ++i) {
    int64_t offset = offsets[i];
    if (owns(offset, p.owners, pos.y)) {
      out[offset] = scatter_apply<Op, T>(out[offset], updates[static_cast<int64_t>(i) * p.size]);
    }
  }
}

// Slices that may overlap: a single thread applies all updates in order.
template <typename Op, typename T>
[[kernel]] void scatter_serial(const device T* updates [[buffer(0)]],
                               const device int64_t* offsets [[buffer(1)]],
                               device T* out [[buffer(2)]],
                               constant const SliceParams& p [[buffer(3)]]) {
  for (uint i = 0; i < p.count; ++i) {
    int64_t offset = offsets[i];
    for (uint j = 0; offset >= 0 && j < p.size; ++j) {
      int64_t at = offset + slice_offset(p, j);
      out[at] = scatter_apply<Op, T>(out[at], updates[static_cast<int64_t>(i) * p.size + j]);
    }
  }
}

// For devices with many threads. `order` are the updates by the place of their slices; those of the
// same place keep their order. The thread of the first one (y) applies them all to an element (x).
template <typename Op, typename T>
[[kernel]] void scatter_sorted(const device T* updates [[buffer(0)]],
                               const device int64_t* offsets [[buffer(1)]],
                               device T* out [[buffer(2)]],
                               constant const SliceParams& p [[buffer(3)]],
                               const device uint* order [[buffer(4)]],
                               uint2 pos [[thread_position_in_grid]]) {
  const int64_t offset = offsets[order[pos.y]];
  if (offset < 0 || (pos.y > 0 && offsets[order[pos.y - 1]] == offset)) return;
  out += offset + (p.ndim == 1 ? pos.x * p.stride[0] : slice_offset(p, pos.x));
  T value = *out;
  for (uint i = pos.y; i < p.count && offsets[order[i]] == offset; ++i)
    value = scatter_apply<Op, T>(value, updates[static_cast<int64_t>(order[i]) * p.size + pos.x]);
  *out = value;
}

#define SCATTER(Op, name, T)                                          \
  MLX_KERNEL("Scatter" #Op "_row_" #name, scatter_row<Op, T>)         \
  MLX_KERNEL("Scatter" #Op "_long_" #name, scatter_long<Op, T>)       \
  MLX_KERNEL("Scatter" #Op "_general_" #name, scatter_general<Op, T>) \
  MLX_KERNEL("Scatter" #Op "_sorted_" #name, scatter_sorted<Op, T>)   \
  MLX_KERNEL("Scatter" #Op "_serial_" #name, scatter_serial<Op, T>)

MLX_FOR_SIZES(SCATTER, Assign)
MLX_FOR_ALL(SCATTER, Sum)
MLX_FOR_ALL(SCATTER, Prod)
MLX_FOR_ALL(SCATTER, Max)
MLX_FOR_ALL(SCATTER, Min)
