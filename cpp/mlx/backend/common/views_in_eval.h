// Views inside an evaluation, and copies where a view is impossible.
#pragma once

#include <vector>

#include "mlx/array.h"
#include "mlx/stream.h"

namespace mlx::core {

// Gives `out`, whose shape is set, the elements of `in`.
void reshape_in_eval(const array& in, array& out, Stream s);

array reshape_in_eval(const array& x, Shape shape, Stream s);
array flatten_in_eval(const array& x, int start_axis, int end_axis, Stream s);
array transpose_in_eval(const array& x, const std::vector<int>& axes);
array swapaxes_in_eval(const array& x, int axis1, int axis2);

}  // namespace mlx::core
