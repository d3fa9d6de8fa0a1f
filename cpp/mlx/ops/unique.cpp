// The distinct elements of an array. Their number is an argument, so that shapes do not depend on
// values.
#include <algorithm>

#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"

namespace mlx::core {

namespace {

void check_unique(const array& a, int size, const std::optional<array>& fill_value) {
  if (size < 0) {
    invalid_argument("unique", message("The size must not be negative, but is ", size, "."));
  }
  if (fill_value && fill_value->size() != 1) {
    invalid_argument("unique", message("The fill value must have one element, but has shape ",
                                       fill_value->shape(), "."));
  }
  if (a.size() == 0 && size > 0 && !fill_value) {
    invalid_argument("unique", message("An array without elements has no first one to fill ", size,
                                       " places with: a fill value is needed."));
  }
}

Unique unique_of_none(const array& a, int size, const array& fill, const Stream& s) {
  return {full({size}, fill, a.dtype(), s), zeros({size}, uint32, s), zeros(a.shape(), uint32, s),
          zeros({size}, int32, s)};
}

// Whether each element of a sorted vector differs from the one before.
array starts_anew(const array& sorted, const Stream& s) {
  const int n = sorted.shape(0);
  array differs = not_equal(slice(sorted, {1}, {n}, s), slice(sorted, {0}, {n - 1}, s), s);
  return concatenate({full({1}, array(true), bool_, s), differs}, 0, s);
}

// The first `count` positions where `is_start` is true, then its length.
array places(const array& is_start, int count, const Stream& s) {
  const int n = is_start.shape(0);
  array end = array(n, int32);
  array all = sort(where(is_start, arange(0, n, 1, int32, s), end, s), 0, s);
  if (count <= n) return slice(all, {0}, {count}, s);
  return concatenate({all, full({count - n}, end, int32, s)}, 0, s);
}

}  // namespace

Unique unique(const array& a, int size, const std::optional<array>& fill_value, StreamOrDevice to) {
  const Stream s = to_stream(to);
  check_unique(a, size, fill_value);
  if (a.size() == 0) {
    return unique_of_none(a, size, fill_value.value_or(array(0, a.dtype())), s);
  }
  array flat = reshape(a, {-1}, s);
  array order = argsort(stop_gradient(flat, s), 0, s);
  array is_start = starts_anew(take(stop_gradient(flat, s), order, 0, s), s);

  const array bounds = places(is_start, size + 1, s);
  array starts = slice(bounds, {0}, {size}, s);
  array counts = subtract(slice(bounds, {1}, {size + 1}, s), starts, s);
  array exists = less(starts, array(flat.shape(0), int32), s);
  array place = where(exists, starts, array(0, int32), s);
  array index = take(order, place, 0, s);
  array values = take(flat, index, 0, s);
  if (fill_value) {
    array fill = reshape(astype(*fill_value, a.dtype(), s), {}, s);
    values = where(exists, values, fill, s);
  }
  array number = cumsum(astype(is_start, int32, s), 0, false, true, s);
  number = minimum(number, array(std::max(size, 1), int32), s);
  array inverse = take(subtract(number, array(1, int32), s), argsort(order, 0, s), 0, s);
  return {values, index, reshape(astype(inverse, uint32, s), a.shape(), s), counts};
}

}  // namespace mlx::core
