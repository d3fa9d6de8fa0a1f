// What the rules of the package's primitives have in common: tangents, and axes that are mapped.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "mlx/ops.h"

namespace mlx_sample {

namespace mx = mlx::core;

using Arrays = std::vector<mx::array>;

// Row by row in memory.
mx::array dense(const mx::array& a, mx::Stream s);

// The tangent of an input; of one that stays as it is, zeros.
mx::array tangent_of(int input, const Arrays& primals, const Arrays& tangents,
                     const std::vector<int>& argnums, mx::Stream s);

// The length of the axis that is mapped; 1 if there is none.
int mapped_length(const Arrays& inputs, const std::vector<int>& axes);

// The mapped axis in front, or a new one of the given length for an array that is not mapped (-1).
mx::array in_front(const mx::array& a, int axis, int length, mx::Stream s);

// Line i of (B, ...) raised by i steps: numbers in [0, step) of each become numbers in [0, B step).
mx::array shifted(const mx::array& lines, int step, mx::Stream s);

// vmap of an operation that has a batch as first axis of all inputs and outputs: the mapped axis
// becomes part of it.
std::pair<Arrays, std::vector<int>> map_batches(const Arrays& inputs, const std::vector<int>& axes,
                                                const std::function<Arrays(const Arrays&)>& apply,
                                                mx::Stream s);

}  // namespace mlx_sample
