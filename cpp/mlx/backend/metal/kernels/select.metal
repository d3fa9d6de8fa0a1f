// where(condition, x, y) by element size: contiguous operands, of which x or y may be scalar (vvv,
// vsv, vvs, vss), or strided ones (g).
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/strided.h"
#include "mlx/backend/metal/kernels/types.h"

template <typename T, int X, int Y>
[[kernel]] void select_v(const device bool* condition [[buffer(0)]],
                         const device T* x [[buffer(1)]], const device T* y [[buffer(2)]],
                         device T* out [[buffer(3)]], uint i [[thread_position_in_grid]]) {
  T a = x[X ? i : 0];
  T b = y[Y ? i : 0];
  out[i] = condition[i] ? a : b;
}

template <typename T>
[[kernel]] void select_g(const device bool* condition [[buffer(0)]],
                         const device T* x [[buffer(1)]], const device T* y [[buffer(2)]],
                         device T* out [[buffer(3)]],
                         constant const Strides4<3>& strides [[buffer(4)]],
                         uint3 pos [[thread_position_in_grid]], uint3 grid [[threads_per_grid]]) {
  T a = x[strided_offset(strides, 1, pos)];
  T b = y[strided_offset(strides, 2, pos)];
  out[dense_offset(pos, grid)] = condition[strided_offset(strides, 0, pos)] ? a : b;
}

#define SELECT(Op, name, T)                        \
  MLX_KERNEL(#Op "_vvv_" #name, select_v<T, 1, 1>) \
  MLX_KERNEL(#Op "_vsv_" #name, select_v<T, 0, 1>) \
  MLX_KERNEL(#Op "_vvs_" #name, select_v<T, 1, 0>) \
  MLX_KERNEL(#Op "_vss_" #name, select_v<T, 0, 0>) \
  MLX_KERNEL(#Op "_g_" #name, select_g<T>)

MLX_FOR_SIZES(SELECT, Select)
