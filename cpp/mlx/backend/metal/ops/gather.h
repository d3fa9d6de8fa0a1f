// Taking elements along an axis.
#pragma once

#include "mlx/array.h"
#include "mlx/stream.h"

namespace mlx::core {

// out[.., i, ..] = in[.., indices[.., i, ..], ..], for arrays that differ only in the length of the
// axis, which is never 0. Indices out of range are clamped. `out` is allocated, and is filled in
// row-major order.
void gather_along_axis(const array& in, const array& indices, int axis, array& out, Stream s);

}  // namespace mlx::core
