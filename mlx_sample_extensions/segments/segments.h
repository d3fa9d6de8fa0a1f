// Reductions of ragged segments of rows, and their adjoints.
#pragma once

#include <optional>
#include <string>

#include "mlx/ops.h"

namespace mlx_sample {

namespace mx = mlx::core;

// Reduces x (T, ...) over consecutive segments of `lengths` (K,) rows: the result is (K, ...).
// operation: sum, mean, max, min, prod. An empty segment gives 0, and 1 for prod. Rows that are
// equal to the maximum or minimum share its gradient equally. 16-bit floats are accumulated in
// float32; short integers become int32, and float32 for mean. `check`: whether the lengths' values
// are checked; otherwise the caller guarantees them.
mx::array segment_reduce(const mx::array& x, const mx::array& lengths,
                         const std::string& operation = "sum", bool check = true,
                         mx::StreamOrDevice s = {});

// The same for rows in any order: the segments are consecutive parts of x[indices[0]],
// x[indices[1]], ..., of `lengths[k]` rows each.
mx::array indexed_segment_reduce(const mx::array& x, const mx::array& indices,
                                 const mx::array& lengths, const std::string& operation = "sum",
                                 bool check = true, mx::StreamOrDevice s = {});

// Reduces the slices of src along axis `dim` that have the same index: slice i goes to slice
// index[i] of the result, which has `dim_size` of them (by default one more than the largest
// index). index has one dimension, or the shape of src, and then every element has its own target.
// Slices without a source get the value of an empty segment.
mx::array scatter(const mx::array& src, const mx::array& index, int dim = 0,
                  std::optional<int> dim_size = std::nullopt, const std::string& reduce = "sum",
                  bool check = true, mx::StreamOrDevice s = {});

// Repeats slice i of x along the axis repeats[i] times; without an axis, flattens x first. repeats
// has one value for each slice or one for all. `total` is the sum of the repeats, which otherwise
// is computed.
mx::array repeat_interleave(const mx::array& x, const mx::array& repeats,
                            std::optional<int> axis = std::nullopt,
                            std::optional<int> total = std::nullopt, bool check = true,
                            mx::StreamOrDevice s = {});

}  // namespace mlx_sample
