// Selecting, slicing and gathering.
#include "mlx/ops/indexing.h"

#include <algorithm>
#include <stdexcept>

#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"
#include "mlx/primitives/indexing.h"
#include "mlx/primitives/ternary.h"

namespace mlx::core {

namespace {

struct SliceBounds {
  Shape start, stop, strides, shape;
  bool whole = true;
};

// Applies Python's rules to an axis of length n.
void resolve_axis(int n, int& start, int& stop, int stride, int& length) {
  start = start < 0 ? start + n : start;
  stop = stop < 0 ? stop + n : stop;
  if (stride > 0) {
    start = std::clamp(start, 0, n);
    stop = std::clamp(stop, start, n);
    length = static_cast<int>((stop - start + int64_t{stride} - 1) / stride);
  } else {
    start = std::clamp(start, -1, n - 1);
    stop = std::clamp(stop, -1, start);
    length = static_cast<int>((start - stop - int64_t{stride} - 1) / -int64_t{stride});
  }
  if (length == 0) {
    start = stop = 0;
  }
}

SliceBounds resolve(const array& a, Shape start, Shape stop, Shape strides, const std::string& op) {
  if (start.size() != a.ndim() || stop.size() != a.ndim() || strides.size() != a.ndim()) {
    invalid_argument(op, message("Start ", start, ", stop ", stop, " and strides ", strides,
                                 " must have one entry per axis of shape ", a.shape(), "."));
  }
  SliceBounds bounds{std::move(start), std::move(stop), std::move(strides), a.shape()};
  for (int i = 0; i < rank(a); ++i) {
    int n = a.shape(i);
    if (bounds.strides[i] == 0) {
      invalid_argument(op, "Strides must not be 0.");
    }
    resolve_axis(n, bounds.start[i], bounds.stop[i], bounds.strides[i], bounds.shape[i]);
    if (bounds.shape[i] <= 1) {
      bounds.strides[i] = 1;  // does not matter: equal slices get equal bounds
      bounds.stop[i] = bounds.start[i] + bounds.shape[i];
    }
    bounds.whole = bounds.whole && bounds.shape[i] == n && bounds.strides[i] == 1;
  }
  return bounds;
}

std::vector<int> checked_start(const array& a, const array& start, const std::vector<int>& axes,
                               const std::string& op) {
  check_integral(start, op);
  if (start.ndim() > 1 || start.size() != axes.size()) {
    invalid_argument(op, message("The start of shape ", start.shape(),
                                 " must hold one index for each of ", axes.size(), " axes."));
  }
  std::vector<int> out;
  for (int axis : axes) {
    out.push_back(normalize_axis_index(axis, rank(a), op));
  }
  normalize_axes(out, rank(a), op);
  return out;
}

// Whether the bound is one number that does not change the shape of the array.
bool is_number_beside(const array& bound, const array& a) {
  return bound.size() == 1 && bound.ndim() <= a.ndim();
}

}  // namespace

array where(const array& condition, const array& x, const array& y, StreamOrDevice s) {
  Stream stream = to_stream(s);
  Dtype dtype = promote_types(x.dtype(), y.dtype());
  auto inputs = broadcast_arrays(
      {astype(condition, bool_, stream), astype(x, dtype, stream), astype(y, dtype, stream)},
      stream);
  return elementwise<Select>(std::move(inputs), dtype, stream);
}

array clip(const array& a, const std::optional<array>& a_min, const std::optional<array>& a_max,
           StreamOrDevice s) {
  if (!a_min && !a_max) {
    invalid_argument("clip", "At least one of a_min and a_max must be given.");
  }
  if (a_min && a_max && is_number_beside(*a_min, a) && is_number_beside(*a_max, a)) {
    const Dtype dtype = promote_types(promote_types(a.dtype(), a_min->dtype()), a_max->dtype());
    if (dtype != float64) {
      const Stream stream = to_stream(s);
      auto inputs = broadcast_arrays(
          {astype(a, dtype, stream), astype(*a_min, dtype, stream), astype(*a_max, dtype, stream)},
          stream);
      return elementwise<Clip>(std::move(inputs), dtype, stream);
    }
  }
  array out = a_min ? maximum(a, *a_min, s) : a;
  return a_max ? minimum(out, *a_max, s) : out;
}

array slice(const array& a, Shape start, Shape stop, Shape strides, StreamOrDevice s) {
  auto bounds = resolve(a, std::move(start), std::move(stop), std::move(strides), "slice");
  if (bounds.whole) {
    return a;
  }
  auto primitive = std::make_shared<Slice>(to_stream(s), bounds.start, bounds.stop, bounds.strides);
  return array(std::move(bounds.shape), a.dtype(), std::move(primitive), {a});
}

array slice(const array& a, std::initializer_list<int> start, Shape stop, Shape strides,
            StreamOrDevice s) {
  return slice(a, Shape(start), std::move(stop), std::move(strides), s);
}

array slice(const array& a, Shape start, Shape stop, StreamOrDevice s) {
  Shape strides(a.ndim(), 1);
  return slice(a, std::move(start), std::move(stop), std::move(strides), s);
}

array slice(const array& a, const array& start, std::vector<int> given_axes, Shape slice_size,
            StreamOrDevice s) {
  auto axes = checked_start(a, start, given_axes, "slice");
  bool fits = slice_size.size() == a.ndim();
  for (int i = 0; fits && i < rank(a); ++i) {
    fits = slice_size[i] >= 0 && slice_size[i] <= a.shape(i);
  }
  if (!fits) {
    invalid_argument(
        "slice", message("Slice size ", slice_size, " does not fit into shape ", a.shape(), "."));
  }
  Stream stream = to_stream(s);
  auto primitive = std::make_shared<DynamicSlice>(stream, std::move(axes), slice_size);
  return array(std::move(slice_size), a.dtype(), std::move(primitive),
               {a, reshape(start, {-1}, stream)});
}

array slice_update(const array& src, const array& update, Shape start, Shape stop, Shape strides,
                   StreamOrDevice s) {
  auto bounds = resolve(src, std::move(start), std::move(stop), std::move(strides), "slice_update");
  Stream stream = to_stream(s);
  // Leading axes of length 1 do not matter, as in an assignment.
  array value = astype(update, src.dtype(), stream);
  while (value.ndim() > src.ndim() && value.shape(0) == 1) {
    value = squeeze(value, 0, stream);
  }
  value = broadcast_to(value, bounds.shape, stream);
  if (value.size() == 0) {
    return src;
  }
  if (bounds.whole) {
    return value;
  }
  auto primitive = std::make_shared<SliceUpdate>(stream, bounds.start, bounds.stop, bounds.strides);
  return array(src.shape(), src.dtype(), std::move(primitive), {src, value});
}

array slice_update(const array& src, const array& update, Shape start, Shape stop,
                   StreamOrDevice s) {
  Shape strides(src.ndim(), 1);
  return slice_update(src, update, std::move(start), std::move(stop), std::move(strides), s);
}

array slice_update(const array& src, const array& update, const array& start,
                   std::vector<int> given_axes, StreamOrDevice s) {
  auto axes = checked_start(src, start, given_axes, "slice_update");
  Stream stream = to_stream(s);
  array value = astype(update, src.dtype(), stream);
  if (value.ndim() > src.ndim()) {
    invalid_argument("slice_update", message("An update of shape ", update.shape(),
                                             " does not fit into shape ", src.shape(), "."));
  }
  Shape shape(src.ndim() - value.ndim(), 1);
  shape.insert(shape.end(), value.shape().begin(), value.shape().end());
  value = reshape(value, shape, stream);
  for (int i = 0; i < rank(src); ++i) {
    if (shape[i] > src.shape(i)) {
      invalid_argument("slice_update", message("An update of shape ", update.shape(),
                                               " does not fit into shape ", src.shape(), "."));
    }
    if (shape[i] == 1 && std::ranges::find(axes, i) == axes.end()) shape[i] = src.shape(i);
  }
  value = broadcast_to(value, shape, stream);
  auto primitive = std::make_shared<DynamicSliceUpdate>(stream, std::move(axes));
  return array(src.shape(), src.dtype(), std::move(primitive),
               {src, value, reshape(start, {-1}, stream)});
}

#define SLICE_UPDATE(name, combine)                                                              \
  array name(const array& src, const array& update, Shape start, Shape stop, Shape strides,      \
             StreamOrDevice s) {                                                                 \
    const array old = slice(src, start, stop, strides, s);                                       \
    return slice_update(src, combine(old, astype(update, src.dtype(), s), s), start, stop,       \
                        strides, s);                                                             \
  }                                                                                              \
  array name(const array& src, const array& update, Shape start, Shape stop, StreamOrDevice s) { \
    return name(src, update, std::move(start), std::move(stop), Shape(src.ndim(), 1), s);        \
  }
SLICE_UPDATE(slice_update_add, add)
SLICE_UPDATE(slice_update_prod, multiply)
SLICE_UPDATE(slice_update_max, maximum)
SLICE_UPDATE(slice_update_min, minimum)
#undef SLICE_UPDATE

array take(const array& a, const array& indices, int axis, StreamOrDevice s) {
  axis = normalize_axis_index(axis, rank(a), "take");
  check_integral(indices, "take");
  if (a.shape(axis) == 0 && indices.size() > 0) {
    invalid_argument(
        "take", message("Nothing can be taken from axis ", axis, " of shape ", a.shape(), "."));
  }
  Shape out_shape(a.shape().begin(), a.shape().begin() + axis);
  out_shape.insert(out_shape.end(), indices.shape().begin(), indices.shape().end());
  out_shape.insert(out_shape.end(), a.shape().begin() + axis + 1, a.shape().end());
  if (indices.size() == 0) {
    return zeros(out_shape, a.dtype(), s);
  }
  Shape slice_sizes = a.shape();
  slice_sizes[axis] = 1;
  array out = gather(a, {indices}, {axis}, slice_sizes, s);
  int index_rank = rank(indices);
  out = squeeze(out, index_rank + axis, s);
  // Gather puts the indices' axes first: moves the axes before `axis` in front of them.
  std::vector<int> order;
  for (int i = 0; i < axis; ++i) {
    order.push_back(index_rank + i);
  }
  for (int i = 0; i < index_rank; ++i) {
    order.push_back(i);
  }
  for (int i = index_rank + axis; i < rank(out); ++i) {
    order.push_back(i);
  }
  return transpose(out, order, s);
}

array take(const array& a, int index, int axis, StreamOrDevice s) {
  axis = normalize_axis_index(axis, rank(a), "take");
  int n = a.shape(axis);
  if (index < -n || index >= n) {
    throw std::out_of_range(message("[take] Index ", index, " is out of bounds for axis ", axis,
                                    " of length ", n, "."));
  }
  Shape start(a.ndim(), 0);
  Shape stop = a.shape();
  start[axis] = index < 0 ? index + n : index;
  stop[axis] = start[axis] + 1;
  return squeeze(slice(a, start, stop, s), axis, s);
}

array take(const array& a, const array& indices, StreamOrDevice s) {
  return take(reshape(a, {-1}, s), indices, 0, s);
}

array take(const array& a, int index, StreamOrDevice s) {
  return take(reshape(a, {-1}, s), index, 0, s);
}

array take_along_axis(const array& a, const array& indices, int axis, StreamOrDevice s) {
  axis = normalize_axis_index(axis, rank(a), "take_along_axis");
  check_integral(indices, "take_along_axis");
  if (indices.ndim() != a.ndim()) {
    invalid_argument(
        "take_along_axis",
        message("Indices of shape ", indices.shape(),
                " must have as many dimensions as the array of shape ", a.shape(), "."));
  }
  // Broadcasts all axes except the one along which elements are taken.
  Shape a_shape = a.shape();
  Shape index_shape = indices.shape();
  a_shape[axis] = index_shape[axis] = 1;
  Shape common = broadcast_shapes(a_shape, index_shape);
  Shape out_shape = a_shape = index_shape = common;
  a_shape[axis] = a.shape(axis);
  index_shape[axis] = out_shape[axis] = indices.shape(axis);
  if (a.shape(axis) == 0 && indices.size() > 0) {
    invalid_argument("take_along_axis", message("Nothing can be taken from axis ", axis,
                                                " of shape ", a.shape(), "."));
  }
  Stream stream = to_stream(s);
  return array(std::move(out_shape), a.dtype(), std::make_shared<GatherAxis>(stream, axis),
               {broadcast_to(a, a_shape, stream), broadcast_to(indices, index_shape, stream)});
}

array gather(const array& a, const std::vector<array>& indices, const std::vector<int>& given_axes,
             const Shape& slice_sizes, StreamOrDevice s) {
  if (indices.size() != given_axes.size() || indices.size() > a.ndim()) {
    invalid_argument("gather",
                     message("Got ", indices.size(), " index arrays for ", given_axes.size(),
                             " axes of an array with ", a.ndim(), " dimensions."));
  }
  std::vector<int> axes;
  for (int axis : given_axes) {
    axes.push_back(normalize_axis_index(axis, rank(a), "gather"));
  }
  normalize_axes(axes, rank(a), "gather");
  const bool takes_any = std::none_of(indices.begin(), indices.end(),
                                      [](const array& index) { return index.size() == 0; });
  bool fits = slice_sizes.size() == a.ndim();
  for (int i = 0; fits && i < rank(a); ++i) {
    fits = slice_sizes[i] >= 0 && (slice_sizes[i] <= a.shape(i) || !takes_any);
  }
  if (!fits) {
    invalid_argument(
        "gather", message("Slice sizes ", slice_sizes, " do not fit into shape ", a.shape(), "."));
  }
  Stream stream = to_stream(s);
  std::vector<array> inputs{a};
  if (!indices.empty()) {
    for (const auto& index : indices) {
      check_integral(index, "gather");
    }
    auto aligned = cast_and_broadcast(indices, result_type(indices), stream);
    inputs.insert(inputs.end(), aligned.begin(), aligned.end());
  }
  auto primitive = std::make_shared<Gather>(stream, std::move(axes), slice_sizes);
  Shape shape = primitive->output_shapes(inputs)[0];
  return array(std::move(shape), a.dtype(), std::move(primitive), std::move(inputs));
}

}  // namespace mlx::core
