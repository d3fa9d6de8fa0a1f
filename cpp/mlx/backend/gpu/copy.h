// Copies under the names that primitives for the Metal device use.
#pragma once

#include <vector>

#include "mlx/backend/common/copy.h"

namespace mlx::core {

inline void copy_gpu(const array& in, array& out, CopyType type, const Stream& s) {
  copy(in, out, type, s);
}
inline void copy_gpu_inplace(const array& in, array& out, CopyType type, const Stream& s) {
  copy_inplace(in, out, type, s);
}
inline void copy_gpu_inplace(const array& in, array& out, const Shape& shape,
                             const Strides& in_strides, const Strides& out_strides,
                             int64_t in_offset, int64_t out_offset, CopyType type,
                             const Stream& s) {
  copy_inplace(in, out, shape, in_strides, out_strides, in_offset, out_offset, type, s);
}

// On the stream of the output's primitive.
void copy_gpu(const array& in, array& out, CopyType type);
void copy_gpu_inplace(const array& in, array& out, const Strides& in_strides, int64_t in_offset,
                      CopyType type, const Stream& s);

// A row-contiguous copy that lives until the stream has used it.
array contiguous_copy_gpu(const array& a, const Stream& s);
// `value`, a scalar, in every element of `out`, which gets its memory.
void fill_gpu(const array& value, array& out, const Stream& s);

// The input's elements in the output's shape: a view if possible.
void reshape_gpu(const array& in, array& out, Stream s);

// Views, and copies where a view is impossible, for use inside eval_gpu.
array flatten_in_eval(const array& x, int start_axis, int end_axis, Stream s);
array reshape_in_eval(const array& x, Shape shape, Stream s);
array transpose_in_eval(const array& x, const std::vector<int>& axes);
array swapaxes_in_eval(const array& x, int axis1, int axis2);

}  // namespace mlx::core
