// Sorting, partitioning and searching.
#include "mlx/ops/sort.h"

#include <cmath>

#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"
#include "mlx/primitives/sort.h"

namespace mlx::core {

namespace {

int checked_axis(const array& a, int axis, const std::string& op) {
  return normalize_axis_index(axis, rank(a), op);
}

int checked_kth(const array& a, int kth, int axis, const std::string& op) {
  int n = a.shape(axis);
  if (kth < -n || kth >= n) {
    invalid_argument(op,
                     message("kth = ", kth, " is out of bounds for an axis of length ", n, "."));
  }
  return kth < 0 ? kth + n : kth;
}

array flat(const array& a, StreamOrDevice s) { return reshape(a, {-1}, s); }

}  // namespace

array sort(const array& a, int axis, StreamOrDevice s) {
  axis = checked_axis(a, axis, "sort");
  return elementwise<Sort>({a}, a.dtype(), to_stream(s), axis);
}

array argsort(const array& a, int axis, StreamOrDevice s) {
  axis = checked_axis(a, axis, "argsort");
  return elementwise<ArgSort>({a}, uint32, to_stream(s), axis);
}

array partition(const array& a, int kth, int axis, StreamOrDevice s) {
  axis = checked_axis(a, axis, "partition");
  kth = checked_kth(a, kth, axis, "partition");
  return elementwise<Partition>({a}, a.dtype(), to_stream(s), kth, axis);
}

array argpartition(const array& a, int kth, int axis, StreamOrDevice s) {
  axis = checked_axis(a, axis, "argpartition");
  kth = checked_kth(a, kth, axis, "argpartition");
  return elementwise<ArgPartition>({a}, uint32, to_stream(s), kth, axis);
}

array topk(const array& a, int k, int axis, StreamOrDevice s) {
  axis = checked_axis(a, axis, "topk");
  int n = a.shape(axis);
  if (k < 0 || k > n) {
    invalid_argument("topk",
                     message("k = ", k, " must be between 0 and the axis' length ", n, "."));
  }
  if (k == n) {
    return a;
  }
  Shape start(a.ndim(), 0);
  start[axis] = n - k;
  array parted = k == 0 ? a : partition(a, n - k, axis, s);
  return slice(parted, start, a.shape(), s);
}

array sort(const array& a, StreamOrDevice s) { return sort(flat(a, s), 0, s); }
array argsort(const array& a, StreamOrDevice s) { return argsort(flat(a, s), 0, s); }
array partition(const array& a, int kth, StreamOrDevice s) {
  return partition(flat(a, s), kth, 0, s);
}
array argpartition(const array& a, int kth, StreamOrDevice s) {
  return argpartition(flat(a, s), kth, 0, s);
}
array topk(const array& a, int k, StreamOrDevice s) { return topk(flat(a, s), k, 0, s); }

array searchsorted(const array& sorted, const array& searched, bool right, StreamOrDevice s) {
  if (sorted.ndim() != 1) {
    invalid_argument(
        "searchsorted",
        message("The sorted sequence must be 1-dimensional, but has shape ", sorted.shape(), "."));
  }
  array sorted_sequence = stop_gradient(sorted, s), values = stop_gradient(searched, s);
  int n = sorted_sequence.shape(0);
  array low = zeros(values.shape(), int32, s);
  if (n == 0) {
    return astype(low, uint32, s);
  }
  // Searches all values at once by bisection. NaN is larger than everything.
  array high = full(values.shape(), array(n, int32), s);
  for (int remaining = n; remaining > 0; remaining /= 2) {
    array middle = right_shift(add(low, high, s), array(1, int32), s);
    array at = take(sorted_sequence, minimum(middle, array(n - 1, int32), s), 0, s);
    array smaller = right ? less_equal(at, values, s) : less(at, values, s);
    smaller = logical_or(
        smaller,
        right ? isnan(values, s) : logical_and(isnan(values, s), logical_not(isnan(at, s), s), s),
        s);
    smaller = logical_and(smaller, less(low, high, s), s);
    array next_low = where(smaller, add(middle, array(1, int32), s), low, s);
    high = where(smaller, high, middle, s);
    low = next_low;
  }
  return astype(low, uint32, s);
}

}  // namespace mlx::core
