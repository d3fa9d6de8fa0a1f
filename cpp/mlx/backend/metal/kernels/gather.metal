// Gathers by one index array, or by offsets that index_offsets made from several. A slice is a
// single element (element), contiguous in the array (row, line) or anything (general). There is a
// kernel for each item size and each integer type of indices.
#include "mlx/backend/metal/kernels/indexing.h"
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/types.h"

template <typename T, typename I>
[[kernel]] void gather_element(const device T* in [[buffer(0)]],
                               const device I* indices [[buffer(1)]], device T* out [[buffer(2)]],
                               constant const IndexedAxis& axis [[buffer(3)]],
                               uint i [[thread_position_in_grid]]) {
  out[i] = in[slice_start(indices[i], axis)];
}

// A thread copies sixteen elements.
template <typename T, typename I>
[[kernel]] void gather_row(const device T* in [[buffer(0)]], const device I* indices [[buffer(1)]],
                           device T* out [[buffer(2)]],
                           constant const IndexedAxis& axis [[buffer(3)]],
                           uint2 pos [[thread_position_in_grid]]) {
  uint x = pos.x * 16;
  const device T* from = in + slice_start(indices[pos.y], axis) + x;
  device T* to = out + static_cast<int64_t>(axis.slice_size) * pos.y + x;
  if (x + 16 <= axis.slice_size) {
    T values[16];
    for (int k = 0; k < 16; ++k) {
      values[k] = from[k];
    }
    for (int k = 0; k < 16; ++k) {
      to[k] = values[k];
    }
  } else {
    for (uint k = 0; k < axis.slice_size - x; ++k) {
      to[k] = from[k];
    }
  }
}

// The same for GPUs, where neighbouring threads copy neighbouring elements.
template <typename T, typename I>
[[kernel]] void gather_line(const device T* in [[buffer(0)]],
                            const device I* indices [[buffer(1)]], device T* out [[buffer(2)]],
                            constant const IndexedAxis& axis [[buffer(3)]],
                            uint2 pos [[thread_position_in_grid]]) {
  out[static_cast<int64_t>(axis.slice_size) * pos.y + pos.x] =
      in[slice_start(indices[pos.y], axis) + pos.x];
}

template <typename T, typename I>
[[kernel]] void gather_general(const device T* in [[buffer(0)]],
                               const device I* indices [[buffer(1)]], device T* out [[buffer(2)]],
                               constant const IndexedAxis& axis [[buffer(3)]],
                               constant const SliceParams& p [[buffer(4)]],
                               uint2 pos [[thread_position_in_grid]]) {
  out[pos.x + static_cast<int64_t>(axis.slice_size) * pos.y] =
      in[slice_start(indices[pos.y], axis) + slice_offset(p, pos.x)];
}

// offsets[i] (+)= index * stride. Clamps, or marks an index out of range by a large negative
// number.
template <typename I, bool First, bool Clamp>
[[kernel]] void index_offsets(const device I* indices [[buffer(0)]],
                              device int64_t* offsets [[buffer(1)]],
                              constant const int64_t& axis_size [[buffer(2)]],
                              constant const int64_t& limit [[buffer(3)]],
                              constant const int64_t& axis_stride [[buffer(4)]],
                              uint i [[thread_position_in_grid]]) {
  constexpr int64_t outside = -(int64_t(1) << 62);
  int64_t index = wrap_index(indices[i], axis_size);
  int64_t clamped = clamp_index(index, limit);
  int64_t before = First ? 0 : offsets[i];
  bool ok = (Clamp || index == clamped) && before != outside;
  offsets[i] = ok ? before + clamped * axis_stride : outside;
}

#define GATHER(Op, size_name, T, index_name, I)                                \
  MLX_KERNEL(#Op "_element_" #size_name "_" #index_name, gather_element<T, I>) \
  MLX_KERNEL(#Op "_row_" #size_name "_" #index_name, gather_row<T, I>)         \
  MLX_KERNEL(#Op "_line_" #size_name "_" #index_name, gather_line<T, I>)       \
  MLX_KERNEL(#Op "_general_" #size_name "_" #index_name, gather_general<T, I>)

MLX_FOR_INTEGERS(GATHER, Gather, size1, uint8_t)
MLX_FOR_INTEGERS(GATHER, Gather, size2, uint16_t)
MLX_FOR_INTEGERS(GATHER, Gather, size4, uint32_t)
MLX_FOR_INTEGERS(GATHER, Gather, size8, uint64_t)

#define INDEX_OFFSETS(Op, name, I)                                    \
  MLX_KERNEL(#Op "_first_clamp_" #name, index_offsets<I, true, true>) \
  MLX_KERNEL(#Op "_next_clamp_" #name, index_offsets<I, false, true>) \
  MLX_KERNEL(#Op "_first_drop_" #name, index_offsets<I, true, false>) \
  MLX_KERNEL(#Op "_next_drop_" #name, index_offsets<I, false, false>)

MLX_FOR_INTEGERS(INDEX_OFFSETS, IndexOffsets)
