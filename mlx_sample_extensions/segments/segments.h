// Reductions of ragged segments of rows, and their adjoints.
#pragma once

#include <optional>
#include <string>

#include "mlx/ops.h"

namespace mlx_sample {

namespace mx = mlx::core;

// Reduces x (T, ...) over segments of `lengths` (K,) rows that follow each other: the result is
// (K, ...). operation: sum, mean, max, min, prod. An empty segment gives 0, and 1 for prod. Where
// several rows hold the maximum or minimum, they share its gradient evenly. 16-bit floats are
// accumulated in float32; short integers become int32, and float32 for mean. `check`: whether the
// lengths' values are checked; else the caller vouches for them.
mx::array segment_reduce(const mx::array& x, const mx::array& lengths,
                         const std::string& operation = "sum", bool check = true,
                         mx::StreamOrDevice s = {});

// The same for rows in any order: segment k consists of those `lengths[k]` of the rows
// x[indices[0]], x[indices[1]], ... that come after the segments before it.
mx::array indexed_segment_reduce(const mx::array& x, const mx::array& indices,
                                 const mx::array& lengths, const std::string& operation = "sum",
                                 bool check = true, mx::StreamOrDevice s = {});

// Reduces the slices of src along axis `dim` that have the same index: slice i goes to slice
// index[i] of the result, which has `dim_size` of them (by default one more than the largest
// index). index has one dimension, or src's shape, and then every element has a target of its own.
// Slices that get nothing are what an empty segment gives.
mx::array scatter(const mx::array& src, const mx::array& index, int dim = 0,
                  std::optional<int> dim_size = std::nullopt, const std::string& reduce = "sum",
                  bool check = true, mx::StreamOrDevice s = {});

// Slice i of x along the axis repeats[i] times; without an axis, of x flattened. repeats has one
// value for each slice or one for all. `total`: the sum of the repeats, which is else asked for.
mx::array repeat_interleave(const mx::array& x, const mx::array& repeats,
                            std::optional<int> axis = std::nullopt,
                            std::optional<int> total = std::nullopt, bool check = true,
                            mx::StreamOrDevice s = {});

}  // namespace mlx_sample
