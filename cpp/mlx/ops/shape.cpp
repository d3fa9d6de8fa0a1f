// Operations on shapes and layout.
#include "mlx/ops/shape.h"

#include <algorithm>
#include <numeric>

#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"
#include "mlx/primitives/shape.h"
#include "mlx/transforms_impl.h"

namespace mlx::core {

array as_strided(array a, Shape shape, Strides strides, size_t offset, StreamOrDevice s) {
  if (shape.size() != strides.size()) {
    invalid_argument("as_strided",
                     message("Shape ", shape, " and strides ", strides, " differ in length."));
  }
  // All elements of the view must be within the array.
  int64_t lowest = static_cast<int64_t>(offset);
  int64_t highest = lowest;
  bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  for (size_t i = 0; i < shape.size() && !empty; ++i) {
    int64_t reach = 0;
    int64_t& end = strides[i] < 0 ? lowest : highest;
    if (__builtin_mul_overflow(shape[i] - int64_t{1}, strides[i], &reach) ||
        __builtin_add_overflow(end, reach, &end)) {
      invalid_argument("as_strided", message("Shape ", shape, " with strides ", strides,
                                             " and offset ", offset, " reaches too far."));
    }
  }
  if (!empty && (lowest < 0 || highest >= static_cast<int64_t>(a.size()))) {
    invalid_argument("as_strided",
                     message("Shape ", shape, " with strides ", strides, " and offset ", offset,
                             " reaches outside an array of size ", a.size(), "."));
  }
  Stream stream = to_stream(s);
  Dtype dtype = a.dtype();
  array source = reshape(a, {-1}, stream);
  auto primitive = std::make_shared<AsStrided>(stream, shape, std::move(strides), offset);
  return array(std::move(shape), dtype, std::move(primitive), {source});
}

array reshape(const array& a, Shape shape, StreamOrDevice s) {
  if (a.shape() == shape) {
    return a;
  }
  Shape out = Reshape::resolve(shape, static_cast<int64_t>(a.size()));
  if (a.shape() == out) {
    return a;
  }
  auto primitive = std::make_shared<Reshape>(to_stream(s), shape);
  return array(std::move(out), a.dtype(), std::move(primitive), {a});
}

array flatten(const array& a, int start_axis, int end_axis, StreamOrDevice s) {
  if (a.ndim() == 0) {
    return reshape(a, {1}, s);
  }
  // Axes outside the range are clamped to the first and the last.
  int start = std::max(start_axis < 0 ? start_axis + rank(a) : start_axis, 0);
  int end = std::min(end_axis < 0 ? end_axis + rank(a) : end_axis, rank(a) - 1);
  if (end < start) {
    invalid_argument("flatten", message("The first axis ", start_axis,
                                        " must not come after the last ", end_axis, "."));
  }
  if (start == end) {
    return a;
  }
  auto primitive = std::make_shared<Flatten>(to_stream(s), start, end);
  Shape shape = primitive->output_shapes({a})[0];
  return array(std::move(shape), a.dtype(), std::move(primitive), {a});
}

array flatten(const array& a, StreamOrDevice s) { return flatten(a, 0, -1, s); }

array unflatten(const array& a, int axis, Shape shape, StreamOrDevice s) {
  if (shape.empty()) {
    invalid_argument("unflatten", "The shape that an axis is split into must not be empty.");
  }
  axis = normalize_axis_index(axis, rank(a), "unflatten");
  auto primitive = std::make_shared<Unflatten>(to_stream(s), axis, shape);
  Shape out = primitive->output_shapes({a})[0];
  if (shape.size() == 1) {
    return a;
  }
  return array(std::move(out), a.dtype(), std::move(primitive), {a});
}

array without_axes(const array& a, std::vector<int> axes, const Stream& s) {
  auto primitive = std::make_shared<Squeeze>(s, std::move(axes));
  std::vector<array> inputs(1, a);
  Shape shape = primitive->output_shapes(inputs)[0];
  return array(std::move(shape), a.dtype(), std::move(primitive), std::move(inputs));
}

array squeeze(const array& a, const std::vector<int>& axes, StreamOrDevice s) {
  auto dropped = normalize_axes(axes, rank(a), "squeeze");
  if (dropped.empty()) {
    return a;
  }
  for (int axis : dropped) {
    if (a.shape(axis) != 1) {
      invalid_argument("squeeze", message("Cannot squeeze axis ", axis, " with size ",
                                          a.shape(axis), " which is not equal to 1."));
    }
  }
  return without_axes(a, std::move(dropped), to_stream(s));
}

array squeeze(const array& a, int axis, StreamOrDevice s) {
  return squeeze(a, std::vector<int>{axis}, s);
}

array squeeze(const array& a, StreamOrDevice s) {
  std::vector<int> axes;
  for (int i = 0; i < rank(a); ++i) {
    if (a.shape(i) == 1) {
      axes.push_back(i);
    }
  }
  return squeeze(a, axes, s);
}

array expand_dims(const array& a, const std::vector<int>& axes, StreamOrDevice s) {
  auto added = normalize_axes(axes, rank(a) + static_cast<int>(axes.size()), "expand_dims");
  if (added.empty()) {
    return a;
  }
  auto primitive = std::make_shared<ExpandDims>(to_stream(s), std::move(added));
  Shape shape = primitive->output_shapes({a})[0];
  return array(std::move(shape), a.dtype(), std::move(primitive), {a});
}

array expand_dims(const array& a, int axis, StreamOrDevice s) {
  return expand_dims(a, std::vector<int>{axis}, s);
}

array atleast_1d(const array& a, StreamOrDevice s) {
  return a.ndim() == 0 ? reshape(a, {1}, s) : a;
}

array atleast_2d(const array& a, StreamOrDevice s) {
  return a.ndim() == 0 ? reshape(a, {1, 1}, s) : a.ndim() == 1 ? expand_dims(a, 0, s) : a;
}

array atleast_3d(const array& a, StreamOrDevice s) {
  switch (a.ndim()) {
    case 0:
      return reshape(a, {1, 1, 1}, s);
    case 1:
      return expand_dims(a, {0, 2}, s);
    case 2:
      return expand_dims(a, 2, s);
    default:
      return a;
  }
}

#define FOR_EACH_ARRAY(function)                                                    \
  std::vector<array> function(const std::vector<array>& arrays, StreamOrDevice s) { \
    std::vector<array> out;                                                         \
    for (const auto& a : arrays) {                                                  \
      out.push_back(function(a, s));                                                \
    }                                                                               \
    return out;                                                                     \
  }
FOR_EACH_ARRAY(atleast_1d)
FOR_EACH_ARRAY(atleast_2d)
FOR_EACH_ARRAY(atleast_3d)
#undef FOR_EACH_ARRAY

array transpose(const array& a, std::vector<int> axes, StreamOrDevice s) {
  if (static_cast<int>(axes.size()) != rank(a)) {
    invalid_argument("transpose", message("Got ", axes.size(), " axes for an array with ", a.ndim(),
                                          " dimensions."));
  }
  normalize_axes(axes, rank(a), "transpose");
  for (int& axis : axes) {
    axis = normalize_axis_index(axis, rank(a), "transpose");
  }
  if (std::is_sorted(axes.begin(), axes.end())) {
    return a;
  }
  Shape shape;
  for (int axis : axes) {
    shape.push_back(a.shape(axis));
  }
  return array(std::move(shape), a.dtype(), std::make_shared<Transpose>(to_stream(s), axes), {a});
}

array transpose(const array& a, StreamOrDevice s) {
  auto axes = all_axes(a);
  std::reverse(axes.begin(), axes.end());
  return transpose(a, std::move(axes), s);
}

array swapaxes(const array& a, int axis1, int axis2, StreamOrDevice s) {
  auto axes = all_axes(a);
  std::swap(axes[normalize_axis_index(axis1, rank(a), "swapaxes")],
            axes[normalize_axis_index(axis2, rank(a), "swapaxes")]);
  return transpose(a, std::move(axes), s);
}

array matrix_transpose(const array& a, StreamOrDevice s) {
  if (a.ndim() < 2) {
    invalid_argument(
        "matrix_transpose",
        message("An array of at least 2 dimensions is needed, not of ", a.ndim(), "."));
  }
  return swapaxes(a, -1, -2, s);
}

array moveaxis(const array& a, int source, int destination, StreamOrDevice s) {
  source = normalize_axis_index(source, rank(a), "moveaxis");
  destination = normalize_axis_index(destination, rank(a), "moveaxis");
  auto axes = all_axes(a);
  axes.erase(axes.begin() + source);
  axes.insert(axes.begin() + destination, source);
  return transpose(a, std::move(axes), s);
}

array broadcast_to(const array& a, const Shape& shape, StreamOrDevice s) {
  if (a.shape() == shape) {
    return a;
  }
  size_t skip = shape.size() - a.ndim();
  bool fits = shape.size() >= a.ndim();
  for (size_t i = 0; fits && i < a.ndim(); ++i) {
    fits = a.shape(i) == 1 || a.shape(i) == shape[i + skip];
  }
  if (!fits || std::any_of(shape.begin(), shape.end(), [](int n) { return n < 0; })) {
    invalid_argument("broadcast_to", message("Cannot broadcast array of shape ", a.shape(),
                                             " into shape ", shape, "."));
  }
  return array(shape, a.dtype(), std::make_shared<Broadcast>(to_stream(s), shape), {a});
}

namespace {

// While a function is recorded for all shapes, the other arrays become inputs, so that the shape
// can be computed anew.
array broadcast_against(const array& a, const Shape& shape, const std::vector<array>& others,
                        StreamOrDevice s) {
  if (a.shape() == shape || !detail::InTracing::in_dynamic_tracing()) {
    return broadcast_to(a, shape, s);
  }
  std::vector<array> inputs{a};
  for (const auto& other : others) {
    if (other.id() != a.id()) inputs.push_back(stop_gradient(other, s));
  }
  return array(shape, a.dtype(), std::make_shared<Broadcast>(to_stream(s), shape),
               std::move(inputs));
}

}  // namespace

std::vector<array> broadcast_arrays(const std::vector<array>& inputs, StreamOrDevice s) {
  Shape shape;
  for (const auto& in : inputs) {
    if (in.shape() != shape) {
      shape = broadcast_shapes(shape, in.shape());
    }
  }
  std::vector<array> out;
  out.reserve(inputs.size());
  for (const auto& in : inputs) {
    out.push_back(broadcast_against(in, shape, inputs, s));
  }
  return out;
}

array contiguous(const array& a, bool allow_col_major, StreamOrDevice s) {
  return array(a.shape(), a.dtype(), std::make_shared<Contiguous>(to_stream(s), allow_col_major),
               {a});
}

array number_of_elements(const array& a, std::vector<int> axes, bool inverted, Dtype dtype,
                         StreamOrDevice s) {
  auto primitive = std::make_shared<NumberOfElements>(
      to_stream(s), normalize_axes(axes, rank(a), "number_of_elements"), inverted, dtype);
  return array(Shape{}, dtype, std::move(primitive), {stop_gradient(a, s)});
}

}  // namespace mlx::core
