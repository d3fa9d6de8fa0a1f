// Helpers for derivatives and vmap of the package's primitives.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "mlx/ops.h"

namespace mlx_sample {

namespace mx = mlx::core;

using Arrays = std::vector<mx::array>;

// Makes the array row-contiguous.
mx::array dense(const mx::array& a, mx::Stream s);

// The tangent of an input; zeros for an input that is not differentiated.
mx::array tangent_of(int input, const Arrays& primals, const Arrays& tangents,
                     const std::vector<int>& argnums, mx::Stream s);

// The length of the mapped axis; 1 if there is none.
int mapped_length(const Arrays& inputs, const std::vector<int>& axes);

// Moves the mapped axis to the front; an array that is not mapped (-1) gets an axis of the given
// length.
mx::array in_front(const mx::array& a, int axis, int length, mx::Stream s);

// Adds i * step to line i of (B, ...): indices in [0, step) of each line become indices in [0, B
// step).
mx::array shifted(const mx::array& lines, int step, mx::Stream s);

// vmap of an operation that has a batch as first axis of all inputs and outputs: merges the mapped
// axis with it.
std::pair<Arrays, std::vector<int>> map_batches(const Arrays& inputs, const std::vector<int>& axes,
                                                const std::function<Arrays(const Arrays&)>& apply,
                                                mx::Stream s);

}  // namespace mlx_sample
