// Reductions of segments within the evaluation of a primitive.
#pragma once

#include "segments/primitives.h"

namespace mlx_sample {

// Reduces the segments' rows of x, `rows` in all, to `out`, which has memory; or, given the
// extrema, counts the rows that are equal to them. float32 may become a 16-bit float.
void run_reduction(Reduction reduction, const mx::array& x, const mx::array* extremum,
                   const Segments& segments, int rows, mx::array& out, mx::Stream s);

}  // namespace mlx_sample
