// Running reductions along an axis of a contiguous array (outer, length, inner): a thread walks one
// line.
#include "mlx/backend/metal/kernels/instantiate.h"
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

#define SCAN_AS(Op, in_name, T, out_name, U) \
  MLX_KERNEL("Scan" #Op "_" #in_name "_" #out_name, scan<Op, T, U>)
#define SCAN(Op, name, T) SCAN_AS(Op, name, T, name, T)
MLX_FOR_ALL(SCAN, Sum)
MLX_FOR_ALL(SCAN, Prod)
MLX_FOR_ALL(SCAN, Min)
MLX_FOR_ALL(SCAN, Max)
MLX_FOR_FLOATS(SCAN, LogSum)
MLX_FOR_COMPLEX(SCAN, LogSum)
SCAN_AS(Sum, bool_, bool, int32, int32_t)
SCAN_AS(Prod, bool_, bool, int32, int32_t)
