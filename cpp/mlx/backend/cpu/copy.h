// Copies under the names that primitives for the host use: scheduled on the stream.
#pragma once

#include "mlx/backend/common/copy.h"

namespace mlx::core {

inline void copy_cpu(const array& in, array& out, CopyType type, Stream s) {
  copy(in, out, type, s);
}
inline void copy_cpu_inplace(const array& in, array& out, CopyType type, Stream s) {
  copy_inplace(in, out, type, s);
}

// A row-contiguous copy that lives until the stream has used it.
array contiguous_copy_cpu(const array& a, Stream s);

}  // namespace mlx::core
