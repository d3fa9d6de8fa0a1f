// Index of the first least or greatest element along an axis; a NaN counts as extreme.
#include "mlx/backend/metal/kernels/binary_ops.h"
#include "mlx/backend/metal/kernels/instantiate.h"

template <typename T>
inline bool is_nan_value(T) {
  return false;
}
inline bool is_nan_value(float x) { return isnan(x); }
inline bool is_nan_value(complex64_t x) { return cisnan(x); }

struct ArgMin {
  template <typename T>
  static bool better(T candidate, T best) {
    return Less::apply(candidate, best);
  }
};
struct ArgMax {
  template <typename T>
  static bool better(T candidate, T best) {
    return Less::apply(best, candidate);
  }
};

// Outputs: x + X * y, at x * stride_x + y * stride_y of the input.
template <typename Op, typename T>
[[kernel]] void arg_reduce(const device T* in [[buffer(0)]], device uint* out [[buffer(1)]],
                           constant const int64_t* strides [[buffer(2)]],
                           constant const uint& length [[buffer(3)]],
                           uint2 pos [[thread_position_in_grid]], uint2 grid [[threads_per_grid]]) {
  using A = compute_t<T>;
  in += pos.x * strides[0] + pos.y * strides[1];
  A best = static_cast<A>(in[0]);
  uint index = 0;
  for (uint i = 1; i < length; ++i) {
    A candidate = static_cast<A>(in[i * strides[2]]);
    bool take = !is_nan_value(best) && (is_nan_value(candidate) || Op::better(candidate, best));
    best = take ? candidate : best;
    index = take ? i : index;
  }
  out[pos.x + static_cast<int64_t>(grid.x) * pos.y] = index;
}

#define ARG_REDUCE(Op, name, T) MLX_KERNEL(#Op "_" #name, arg_reduce<Op, T>)
MLX_FOR_ALL(ARG_REDUCE, ArgMin)
MLX_FOR_ALL(ARG_REDUCE, ArgMax)
