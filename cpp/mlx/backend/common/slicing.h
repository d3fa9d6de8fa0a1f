// Slices inside an evaluation, and arrays put together from others.
#pragma once

#include <tuple>
#include <vector>

#include "mlx/array.h"
#include "mlx/stream.h"

namespace mlx::core {

// Start and strides (in elements of the input) of a slice.
std::tuple<int64_t, Strides> prepare_slice(const array& in, const Shape& starts,
                                           const Shape& steps);

// Makes `out`, whose shape is set, a view of a slice.
void slice(const array& in, array& out, const Shape& starts, const Shape& steps);

// Allocate `out`, whose shape is set, and fill it.
void concatenate_in_eval(const std::vector<array>& inputs, array& out, int axis, Stream s);
void pad_in_eval(const array& in, const array& value, array& out, const std::vector<int>& axes,
                 const Shape& low_pad_size, Stream s);

}  // namespace mlx::core
