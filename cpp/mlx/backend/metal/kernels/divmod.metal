// Quotient and remainder in one kernel; operands as in binary.h, without the strided forms (the
// host makes them contiguous).
#include "mlx/backend/metal/kernels/binary_ops.h"
#include "mlx/backend/metal/kernels/instantiate.h"

template <typename T, int A, int B>
[[kernel]] void divmod(const device T* a [[buffer(0)]], const device T* b [[buffer(1)]],
                       device T* quotient [[buffer(2)]], device T* remainder [[buffer(3)]],
                       uint i [[thread_position_in_grid]]) {
  compute_t<T> x = static_cast<compute_t<T>>(a[i * A]);
  compute_t<T> y = static_cast<compute_t<T>>(b[i * B]);
  quotient[i] = convert<T>(FloorDivide::apply(x, y));
  remainder[i] = convert<T>(Remainder::apply(x, y));
}

#define DIVMOD(Op, name, T)                     \
  MLX_KERNEL(#Op "_vv_" #name, divmod<T, 1, 1>) \
  MLX_KERNEL(#Op "_sv_" #name, divmod<T, 0, 1>) \
  MLX_KERNEL(#Op "_vs_" #name, divmod<T, 1, 0>)

MLX_FOR_ALL(DIVMOD, DivMod)
