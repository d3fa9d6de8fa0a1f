// For extensions made for MLX: copies and views under the names that primitives' eval_gpu uses.
#pragma once

#include "mlx/backend/common/copy.h"
#include "mlx/backend/common/views_in_eval.h"
#include "mlx/primitives/primitive.h"

namespace mlx::core {

inline void copy_gpu(const array& in, array& out, CopyType type, const Stream& s) {
  copy(in, out, type, s);
}
// Runs on the stream of the output's primitive.
inline void copy_gpu(const array& in, array& out, CopyType type) {
  copy(in, out, type, out.primitive().stream());
}
inline void copy_gpu_inplace(const array& in, array& out, CopyType type, const Stream& s) {
  copy_inplace(in, out, type, s);
}
inline void copy_gpu_inplace(const array& in, array& out, const Strides& in_strides,
                             int64_t in_offset, CopyType type, const Stream& s) {
  copy_inplace(in, out, in.shape(), in_strides, out.strides(), in_offset, 0, type, s);
}
inline void copy_gpu_inplace(const array& in, array& out, const Shape& shape,
                             const Strides& in_strides, const Strides& out_strides,
                             int64_t in_offset, int64_t out_offset, CopyType type, const Stream& s,
                             const std::optional<array>& dynamic_in_offset = std::nullopt,
                             const std::optional<array>& dynamic_out_offset = std::nullopt) {
  copy_inplace(in, out, shape, in_strides, out_strides, in_offset, out_offset, type, s,
               dynamic_in_offset, dynamic_out_offset);
}
inline array contiguous_copy_gpu(const array& a, const Stream& s) { return contiguous_copy(a, s); }
inline void fill_gpu(const array& value, array& out, const Stream& s) { fill(value, out, s); }
inline void reshape_gpu(const array& in, array& out, Stream s) { reshape_in_eval(in, out, s); }

}  // namespace mlx::core
