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
inline array contiguous_copy_cpu(const array& a, Stream s) { return contiguous_copy(a, s); }

}  // namespace mlx::core
