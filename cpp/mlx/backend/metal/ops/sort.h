// Sorting on a device that has memory of its own.
#pragma once

#include "mlx/array.h"
#include "mlx/stream.h"

namespace mlx::core {

// Sorts along an axis, into `out`, which has memory: the elements, or their positions if that is
// of uint32 and `positions` is set. Equal elements keep their order; NaNs come last.
void sort_on_device(const array& in, array& out, int axis, bool positions, Stream s);

// Partitions in the same way: the element at `kth` is the one that it is if all are sorted, smaller
// ones are before it, and larger ones behind it.
void partition_on_device(const array& in, array& out, int axis, int kth, bool positions, Stream s);

}  // namespace mlx::core
