// clip(x, low, high) of contiguous operands: the bounds are arrays (vvv) or scalars (vss).
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/ternary_ops.h"
#include "mlx/backend/metal/kernels/types.h"

template <typename T, int Bounds>
[[kernel]] void clip_v(const device T* x [[buffer(0)]], const device T* low [[buffer(1)]],
                       const device T* high [[buffer(2)]], device T* out [[buffer(3)]],
                       uint i [[thread_position_in_grid]]) {
  using C = compute_t<T>;
  out[i] = convert<T>(Clip::apply(static_cast<C>(x[i]), static_cast<C>(low[Bounds * i]),
                                  static_cast<C>(high[Bounds * i])));
}

#define CLIP(Op, name, T)                       \
  MLX_KERNEL(#Op "_vvv_" #name, clip_v<T, 1>) \
  MLX_KERNEL(#Op "_vss_" #name, clip_v<T, 0>)

MLX_FOR_ALL(CLIP, Clip)
