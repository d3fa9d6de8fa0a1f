// For extensions made for MLX: slices and arrays put together under the names that primitives'
// eval_gpu uses.
#pragma once

#include "mlx/backend/common/slicing.h"

namespace mlx::core {

inline void slice_gpu(const array& in, array& out, const Shape& starts, const Shape& steps,
                      const Stream&) {
  slice(in, out, starts, steps);
}
inline void concatenate_gpu(const std::vector<array>& inputs, array& out, int axis,
                            const Stream& s) {
  concatenate_in_eval(inputs, out, axis, s);
}
inline void pad_gpu(const array& in, const array& value, array& out, const std::vector<int>& axes,
                    const Shape& low_pad_size, const Stream& s) {
  pad_in_eval(in, value, out, axes, low_pad_size, s);
}

}  // namespace mlx::core
