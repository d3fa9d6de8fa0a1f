// For extensions made for MLX: copies under the names that primitives' eval_cpu uses.
#pragma once

#include "mlx/backend/common/copy.h"

namespace mlx::core {

inline void copy_cpu(const array& in, array& out, CopyType type, Stream s) {
  copy(in, out, type, s);
}
inline void copy_cpu_inplace(const array& in, array& out, CopyType type, Stream s) {
  copy_inplace(in, out, type, s);
}
inline void copy_cpu_inplace(const array& in, array& out, const Shape& shape,
                             const Strides& in_strides, const Strides& out_strides,
                             int64_t in_offset, int64_t out_offset, CopyType type, Stream s,
                             const std::optional<array>& dynamic_in_offset = std::nullopt,
                             const std::optional<array>& dynamic_out_offset = std::nullopt) {
  copy_inplace(in, out, shape, in_strides, out_strides, in_offset, out_offset, type, s,
               dynamic_in_offset, dynamic_out_offset);
}
inline array contiguous_copy_cpu(const array& a, Stream s) { return contiguous_copy(a, s); }

}  // namespace mlx::core
