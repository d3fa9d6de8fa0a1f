// take_along_axis and put_along_axis on contiguous arrays (outer, axis, inner).
#include "mlx/backend/metal/kernels/indexing.h"
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/reduce_ops.h"

struct Assign {
  template <typename T>
  static T apply(T, T b) {
    return b;
  }
};

// x counts the indices, y the lines, whose elements are contiguous.
template <typename T, typename I>
[[kernel]] void gather_lines(const device T* in [[buffer(0)]],
                             const device I* indices [[buffer(1)]], device T* out [[buffer(2)]],
                             constant const AxisParams& p [[buffer(3)]],
                             uint2 pos [[thread_position_in_grid]],
                             uint2 grid [[threads_per_grid]]) {
  const device T* line = in + pos.y * p.outer_stride;
  out[pos.x + static_cast<int64_t>(grid.x) * pos.y] =
      line[place_on_axis(indices[pos.x + pos.y * p.index_stride], p.length)];
}

// The same with a threadgroup for each line, which it first copies in order: memory answers reads in
// the order of the indices much more slowly.
template <typename T, typename I>
[[kernel]] void gather_staged_lines(const device T* in [[buffer(0)]],
                                    const device I* indices [[buffer(1)]],
                                    device T* out [[buffer(2)]],
                                    constant const AxisParams& p [[buffer(3)]],
                                    constant const uint& count [[buffer(4)]],
                                    uint y [[threadgroup_position_in_grid]],
                                    uint lane [[thread_position_in_threadgroup]],
                                    uint lanes [[threads_per_threadgroup]]) {
  threadgroup T line[kStagedBytes / sizeof(T)];
  const device T* from = in + y * p.outer_stride;
  for (uint i = lane; i < p.length; i += lanes) {
    line[i] = from[i];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const device I* places = indices + y * p.index_stride;
  device T* to = out + static_cast<int64_t>(count) * y;
  for (uint i = lane; i < count; i += lanes) {
    to[i] = line[place_on_axis(places[i], p.length)];
  }
}

// x counts the elements behind the axis, which are contiguous, y the indices, z those before the
// axis. Rows that are copied as a whole have one index.
template <typename T, typename I, bool whole>
[[kernel]] void gather_rows(const device T* in [[buffer(0)]], const device I* indices [[buffer(1)]],
                            device T* out [[buffer(2)]], constant const AxisParams& p [[buffer(3)]],
                            uint3 pos [[thread_position_in_grid]],
                            uint3 grid [[threads_per_grid]]) {
  I given = indices[(whole ? 0 : pos.x) + pos.y * p.index_axis_stride + pos.z * p.index_stride];
  const int64_t index = place_on_axis(given, p.length);
  out[pos.x + grid.x * (pos.y + static_cast<int64_t>(grid.y) * pos.z)] =
      in[pos.x + index * p.axis_stride + pos.z * p.outer_stride];
}

// The grid is (inner, outer); a thread applies the updates of its line in order.
template <typename Op, typename T, typename I>
[[kernel]] void scatter_axis(const device T* updates [[buffer(0)]],
                             const device I* indices [[buffer(1)]], device T* out [[buffer(2)]],
                             constant const int64_t& length [[buffer(3)]],
                             constant const uint& count [[buffer(4)]],
                             uint2 pos [[thread_position_in_grid]],
                             uint2 grid [[threads_per_grid]]) {
  int64_t from = pos.x + static_cast<int64_t>(grid.x) * count * pos.y;
  out += pos.x + grid.x * length * pos.y;
  for (uint i = 0; i < count; ++i, from += grid.x) {
    int64_t index = wrap_index(indices[from], length);
    if (index >= 0 && index < length) {
      device T* to = out + index * grid.x;
      *to = convert<T>(
          Op::apply(static_cast<compute_t<T>>(*to), static_cast<compute_t<T>>(updates[from])));
    }
  }
}

#define GATHER_AXIS(Op, size_name, T, index_name, I)                              \
  MLX_KERNEL(#Op "_lines_" #size_name "_" #index_name, gather_lines<T, I>)        \
  MLX_KERNEL(#Op "_whole_" #size_name "_" #index_name, gather_rows<T, I, true>)   \
  MLX_KERNEL(#Op "_rows_" #size_name "_" #index_name, gather_rows<T, I, false>)
#define GATHER_STAGED(Op, size_name, T, index_name, I) \
  MLX_KERNEL(#Op "_staged_" #size_name "_" #index_name, gather_staged_lines<T, I>)
#define SCATTER_AXIS(Op, name, T)                                                  \
  MLX_KERNEL("ScatterAxis" #Op "_" #name "_int32", scatter_axis<Op, T, int32_t>)   \
  MLX_KERNEL("ScatterAxis" #Op "_" #name "_uint32", scatter_axis<Op, T, uint32_t>) \
  MLX_KERNEL("ScatterAxis" #Op "_" #name "_int64", scatter_axis<Op, T, int64_t>)

MLX_FOR_INTEGERS(GATHER_AXIS, GatherAxis, size1, uint8_t)
MLX_FOR_INTEGERS(GATHER_AXIS, GatherAxis, size2, uint16_t)
MLX_FOR_INTEGERS(GATHER_AXIS, GatherAxis, size4, uint32_t)
MLX_FOR_INTEGERS(GATHER_AXIS, GatherAxis, size8, uint64_t)
MLX_FOR_INTEGERS(GATHER_STAGED, GatherAxis, size4, uint32_t)
MLX_FOR_INTEGERS(GATHER_STAGED, GatherAxis, size8, uint64_t)
MLX_FOR_SIZES(SCATTER_AXIS, Assign)
MLX_FOR_ALL(SCATTER_AXIS, Sum)
