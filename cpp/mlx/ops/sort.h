// Sorting, partitioning and searching; without an axis, of the flattened array.
#pragma once

#include "mlx/ops/common.h"

namespace mlx::core {

array sort(const array& a, StreamOrDevice s = {});
array sort(const array& a, int axis, StreamOrDevice s = {});
array argsort(const array& a, StreamOrDevice s = {});
array argsort(const array& a, int axis, StreamOrDevice s = {});
array partition(const array& a, int kth, StreamOrDevice s = {});
array partition(const array& a, int kth, int axis, StreamOrDevice s = {});
array argpartition(const array& a, int kth, StreamOrDevice s = {});
array argpartition(const array& a, int kth, int axis, StreamOrDevice s = {});

// The k largest, in no particular order.
array topk(const array& a, int k, StreamOrDevice s = {});
array topk(const array& a, int k, int axis, StreamOrDevice s = {});

// The positions (uint32) at which the values would be inserted into the sorted 1-D sequence: before
// equal elements, or after them if `right`.
array searchsorted(const array& sorted_sequence, const array& values, bool right = false,
                   StreamOrDevice s = {});

// The results of unique(): arrays of `size` elements, except the inverse, which has the input's
// shape.
struct Unique {
  array values;   // ascending
  array index;    // uint32: the first position of each in the flattened input
  array inverse;  // uint32: for each element of the input, its index in `values`
  array counts;   // int32: how often each occurs
};

// The `size` smallest distinct elements. If there are fewer, the rest is `fill_value`, by default
// the first of them, with counts of 0.
Unique unique(const array& a, int size, const std::optional<array>& fill_value = std::nullopt,
              StreamOrDevice s = {});

}  // namespace mlx::core
