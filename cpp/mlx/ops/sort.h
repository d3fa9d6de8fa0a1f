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

// Where to insert the values (uint32) into the sorted 1-D sequence: before equal elements, or after
// (right).
array searchsorted(const array& sorted_sequence, const array& values, bool right = false,
                   StreamOrDevice s = {});

// What unique() gives: arrays of `size` elements, but for the inverse, which has the shape of the
// input.
struct Unique {
  array values;   // ascending
  array index;    // uint32: where each stands first in the flattened input
  array inverse;  // uint32: which of the values each element is
  array counts;   // int32: how often each occurs
};

// The `size` smallest of the different elements. Where there are fewer, the rest is `fill_value`,
// by default the first of them, and its counts are 0.
Unique unique(const array& a, int size, const std::optional<array>& fill_value = std::nullopt,
              StreamOrDevice s = {});

}  // namespace mlx::core
