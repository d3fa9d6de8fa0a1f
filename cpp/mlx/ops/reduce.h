// Reductions, scans and softmax.
#pragma once

#include "mlx/ops/common.h"

namespace mlx::core {

// Over all axes, some, or one; `keepdims` keeps reduced axes with length 1.
#define MLX_REDUCTION(name)                                                              \
  array name(const array& a, bool keepdims, StreamOrDevice s = {});                      \
  inline array name(const array& a, StreamOrDevice s = {}) { return name(a, false, s); } \
  array name(const array& a, const std::vector<int>& axes, bool keepdims = false,        \
             StreamOrDevice s = {});                                                     \
  array name(const array& a, int axis, bool keepdims = false, StreamOrDevice s = {});
MLX_REDUCTION(all)
MLX_REDUCTION(any)
MLX_REDUCTION(sum)
MLX_REDUCTION(mean)
MLX_REDUCTION(median)
MLX_REDUCTION(prod)
MLX_REDUCTION(max)
MLX_REDUCTION(min)
MLX_REDUCTION(logsumexp)
MLX_REDUCTION(count_nonzero)
#undef MLX_REDUCTION

// The smallest and the largest element.
std::pair<array, array> minmax(const array& a, bool keepdims, StreamOrDevice s = {});
inline std::pair<array, array> minmax(const array& a, StreamOrDevice s = {}) {
  return minmax(a, false, s);
}
std::pair<array, array> minmax(const array& a, const std::vector<int>& axes, bool keepdims = false,
                               StreamOrDevice s = {});
std::pair<array, array> minmax(const array& a, int axis, bool keepdims = false,
                               StreamOrDevice s = {});

// `ddof` is subtracted from the number of elements.
#define MLX_VARIANCE(name)                                                                      \
  array name(const array& a, bool keepdims, int ddof = 0, StreamOrDevice s = {});               \
  inline array name(const array& a, StreamOrDevice s = {}) { return name(a, false, 0, s); }     \
  array name(const array& a, const std::vector<int>& axes, bool keepdims = false, int ddof = 0, \
             StreamOrDevice s = {});                                                            \
  array name(const array& a, int axis, bool keepdims = false, int ddof = 0, StreamOrDevice s = {});
MLX_VARIANCE(var)
MLX_VARIANCE(std)
#undef MLX_VARIANCE

// Indices (uint32) of the first minimum or maximum, of the whole array or along an axis.
array argmin(const array& a, bool keepdims, StreamOrDevice s = {});
inline array argmin(const array& a, StreamOrDevice s = {}) { return argmin(a, false, s); }
array argmin(const array& a, int axis, bool keepdims = false, StreamOrDevice s = {});
array argmax(const array& a, bool keepdims, StreamOrDevice s = {});
inline array argmax(const array& a, StreamOrDevice s = {}) { return argmax(a, false, s); }
array argmax(const array& a, int axis, bool keepdims = false, StreamOrDevice s = {});

// Running reductions along an axis, or over the flattened array.
array cumsum(const array& a, int axis, bool reverse = false, bool inclusive = true,
             StreamOrDevice s = {});
array cumsum(const array& a, bool reverse = false, bool inclusive = true, StreamOrDevice s = {});
array cumprod(const array& a, int axis, bool reverse = false, bool inclusive = true,
              StreamOrDevice s = {});
array cumprod(const array& a, bool reverse = false, bool inclusive = true, StreamOrDevice s = {});
array cummax(const array& a, int axis, bool reverse = false, bool inclusive = true,
             StreamOrDevice s = {});
array cummax(const array& a, bool reverse = false, bool inclusive = true, StreamOrDevice s = {});
array cummin(const array& a, int axis, bool reverse = false, bool inclusive = true,
             StreamOrDevice s = {});
array cummin(const array& a, bool reverse = false, bool inclusive = true, StreamOrDevice s = {});
array logcumsumexp(const array& a, int axis, bool reverse = false, bool inclusive = true,
                   StreamOrDevice s = {});
array logcumsumexp(const array& a, bool reverse = false, bool inclusive = true,
                   StreamOrDevice s = {});

array softmax(const array& a, const std::vector<int>& axes, bool precise = false,
              StreamOrDevice s = {});
array softmax(const array& a, bool precise = false, StreamOrDevice s = {});
inline array softmax(const array& a, int axis, bool precise = false, StreamOrDevice s = {}) {
  return softmax(a, std::vector<int>{axis}, precise, s);
}

array diff(const array& a, int n = 1, int axis = -1, StreamOrDevice s = {});

}  // namespace mlx::core
