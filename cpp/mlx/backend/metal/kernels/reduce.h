// Parameters of the reduction kernels; filled by the host.
#pragma once

#ifdef __METAL_VERSION__
#include "mlx/backend/metal/kernels/utils.h"
#else
#include <cstdint>
#endif

// The threads of a threadgroup that share an output, and those that share a column.
enum { kReduceThreads = 256, kReducePartsOfColumn = 32 };

// The kept dimensions (innermost first) make the grid: x and y are the first two, z the other two.
// One output takes `inner` elements `inner_stride` apart, for each of `outer` positions given by
// the remaining reduced dimensions. Where few outputs take many elements, pass 1 splits the outer
// (or else the inner) loop into `splits` chunks; the partial results form rows of the output, and
// pass 2 reduces over the rows.
struct ReduceParams {
  int64_t row;            // outputs of one split
  uint32_t third_extent;  // of the kept dimensions
  uint32_t kept[2];       // lengths of the first two kept dimensions
  uint32_t inner;
  uint32_t outer;
  uint32_t splits;
  uint32_t inner_chunk;  // elements of the inner loop in a split
  uint32_t outer_chunk;
  int32_t outer_ndim;
  int32_t outer_shape[8];  // outermost first
  float divisor;           // of results that are divided at the end
};

// The strides of an array along these dimensions. A kernel that reads several arrays has a set for
// each order of their elements.
struct ReduceStrides {
  int64_t kept[4];
  int64_t inner;
  int64_t outer[8];
};
