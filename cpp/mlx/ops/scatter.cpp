// Scattering by index arrays.
#include <algorithm>

#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"
#include "mlx/primitives/indexing.h"

namespace mlx::core {

namespace {

void check_updates(const array& a, const Shape& index_shape, const array& updates,
                   const std::string& op) {
  bool fits = updates.ndim() == index_shape.size() + a.ndim() &&
              std::equal(index_shape.begin(), index_shape.end(), updates.shape().begin());
  for (size_t i = 0; fits && i < a.ndim(); ++i) {
    fits = updates.shape(index_shape.size() + i) <= a.shape(i);
  }
  if (!fits) {
    invalid_argument(
        op,
        message("Updates of shape ", updates.shape(), " must have the indices' shape ", index_shape,
                " followed by a length for each axis of ", a.shape(), ", none larger than there."));
  }
}

array scatter(const array& a, const std::vector<array>& indices, const array& updates,
              const std::vector<int>& given_axes, Scatter::ReduceType type, const std::string& op,
              StreamOrDevice s) {
  if (indices.size() != given_axes.size() || indices.size() > a.ndim()) {
    invalid_argument(op, message("Got ", indices.size(), " index arrays for ", given_axes.size(),
                                 " axes of an array with ", a.ndim(), " dimensions."));
  }
  std::vector<int> axes;
  for (int axis : given_axes) {
    axes.push_back(normalize_axis_index(axis, rank(a), op));
  }
  normalize_axes(axes, rank(a), op);
  Stream stream = to_stream(s);
  std::vector<array> inputs{a};
  Shape index_shape;
  if (!indices.empty()) {
    for (const auto& index : indices) {
      check_integral(index, op);
    }
    auto aligned = cast_and_broadcast(indices, result_type(indices), stream);
    index_shape = aligned[0].shape();
    inputs.insert(inputs.end(), aligned.begin(), aligned.end());
  }
  check_updates(a, index_shape, updates, op);
  if (updates.size() == 0) {
    return a;
  }
  inputs.push_back(astype(updates, a.dtype(), stream));
  return array(a.shape(), a.dtype(), std::make_shared<Scatter>(stream, type, axes),
               std::move(inputs));
}

array scatter_axis(const array& a, const array& indices, const array& values, int axis,
                   ScatterAxis::ReduceType type, const std::string& op, StreamOrDevice s) {
  axis = normalize_axis_index(axis, rank(a), op);
  check_integral(indices, op);
  if (indices.ndim() != a.ndim()) {
    invalid_argument(
        op, message("Indices of shape ", indices.shape(),
                    " must have as many dimensions as the array of shape ", a.shape(), "."));
  }
  Stream stream = to_stream(s);
  Shape shape = a.shape();
  shape[axis] = indices.shape(axis);
  array aligned = broadcast_to(indices, shape, stream);
  array updates = broadcast_to(astype(values, a.dtype(), stream), shape, stream);
  if (updates.size() == 0) {
    return a;
  }
  return array(a.shape(), a.dtype(), std::make_shared<ScatterAxis>(stream, type, axis),
               {a, aligned, updates});
}

}  // namespace

#define SCATTER(function, TYPE)                                                           \
  array function(const array& a, const std::vector<array>& indices, const array& updates, \
                 const std::vector<int>& axes, StreamOrDevice s) {                        \
    return scatter(a, indices, updates, axes, Scatter::TYPE, #function, s);               \
  }
SCATTER(scatter, None)
SCATTER(scatter_add, Sum)
SCATTER(scatter_prod, Prod)
SCATTER(scatter_max, Max)
SCATTER(scatter_min, Min)
#undef SCATTER

array put_along_axis(const array& a, const array& indices, const array& values, int axis,
                     StreamOrDevice s) {
  return scatter_axis(a, indices, values, axis, ScatterAxis::None, "put_along_axis", s);
}

array scatter_add_axis(const array& a, const array& indices, const array& values, int axis,
                       StreamOrDevice s) {
  return scatter_axis(a, indices, values, axis, ScatterAxis::Sum, "scatter_add_axis", s);
}

array masked_scatter(const array& a, const array& mask, const array& src, StreamOrDevice s) {
  if (mask.dtype() != bool_) {
    invalid_argument("masked_scatter",
                     message("The mask must be of bool, not ", mask.dtype(), "."));
  }
  bool fits = mask.ndim() <= a.ndim() &&
              std::equal(mask.shape().begin(), mask.shape().end(), a.shape().begin());
  if (!fits) {
    invalid_argument("masked_scatter", message("A mask of shape ", mask.shape(),
                                               " does not cover leading axes of ", a.shape(), "."));
  }
  if (a.size() == 0 || src.size() == 0) {
    return a;
  }
  Shape mask_shape = mask.shape();
  mask_shape.resize(a.ndim(), 1);
  array full_mask = broadcast_to(reshape(mask, mask_shape, s), a.shape(), s);
  // The n-th position where the mask is true gets the n-th value.
  array order = subtract(cumsum(astype(reshape(full_mask, {-1}, s), int32, s), 0, false, true, s),
                         array(1), s);
  array last = array(static_cast<int>(src.size()) - 1);
  array from = stop_gradient(clip(order, array(0), last, s), s);
  array values = take(astype(src, a.dtype(), s), from, s);
  return where(full_mask, reshape(values, a.shape(), s), a, s);
}

}  // namespace mlx::core
