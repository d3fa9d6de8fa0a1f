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

}  // namespace mlx::core
