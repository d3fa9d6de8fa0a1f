// Gathers and slices: shapes, derivatives, vmap.
#include <algorithm>
#include <numeric>

#include "mlx/ops.h"
#include "mlx/primitives/indexing.h"
#include "mlx/primitives/rules.h"

namespace mlx::core {

// ---- Gather ----

std::vector<Shape> Gather::output_shapes(const std::vector<array>& inputs) {
  Shape shape = inputs.size() > 1 ? inputs[1].shape() : Shape{};
  shape.insert(shape.end(), slice_sizes_.begin(), slice_sizes_.end());
  return {shape};
}

std::vector<array> Gather::jvp(const std::vector<array>& primals,
                               const std::vector<array>& tangents,
                               const std::vector<int>& argnums) {
  refuse_indices(argnums, 1, static_cast<int>(primals.size()), "gather");
  std::vector<array> indices(primals.begin() + 1, primals.end());
  return {gather(tangents[0], indices, axes_, slice_sizes_, stream())};
}

std::vector<array> Gather::vjp(const std::vector<array>& primals,
                               const std::vector<array>& cotangents,
                               const std::vector<int>& argnums, const std::vector<array>&) {
  refuse_indices(argnums, 1, static_cast<int>(primals.size()), "gather");
  return {*accumulate_vjp(zeros_like(primals[0], stream()), primals, cotangents[0])};
}

std::optional<array> Gather::accumulate_vjp(const array& sum, const std::vector<array>& primals,
                                            const array& cotangent) {
  std::vector<array> indices(primals.begin() + 1, primals.end());
  return scatter_add(sum, indices, cotangent, axes_, stream());
}

namespace {

// 0, 1, ... along the first of `ndim` axes.
array batch_index(int n, size_t ndim, const Stream& s) {
  Shape shape(ndim, 1);
  shape[0] = n;
  return reshape(arange(n, s), shape, s);
}

// Index arrays with the mapped axis in front; those that have none get one.
std::vector<array> mapped_indices(const std::vector<array>& inputs, const std::vector<int>& axes,
                                  size_t count, const Stream& s) {
  std::vector<array> out;
  for (size_t i = 1; i <= count; ++i) {
    out.push_back(axis_in_front_or_new(inputs[i], axes[i], s));
  }
  return out;
}

bool any_mapped(const std::vector<int>& axes, size_t from, size_t count) {
  return std::any_of(axes.begin() + from, axes.begin() + from + count,
                     [](int axis) { return axis >= 0; });
}

}  // namespace

VmapResult Gather::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  const Stream& s = stream();
  size_t count = inputs.size() - 1;
  int index_rank = count > 0 ? static_cast<int>(inputs[1].ndim()) - (axes[1] >= 0) : 0;
  if (!any_mapped(axes, 1, count)) {
    // Slices take the mapped axis as a whole.
    array x = axis_in_front(inputs[0], axes[0], s);
    std::vector<array> indices(inputs.begin() + 1, inputs.end());
    array out = gather(x, indices, shifted(axes_), prepended(x.shape(0), slice_sizes_), s);
    return {{out}, {index_rank}};
  }
  auto indices = mapped_indices(inputs, axes, count, s);
  if (axes[0] < 0) {
    return {{gather(inputs[0], indices, axes_, slice_sizes_, s)}, {0}};
  }
  // Element i of the indices applies to element i of the array.
  array x = axis_in_front(inputs[0], axes[0], s);
  auto all_axes = shifted(axes_);
  all_axes.insert(all_axes.begin(), 0);
  indices.insert(indices.begin(), batch_index(x.shape(0), index_rank + 1, s));
  array out = gather(x, indices, all_axes, prepended(1, slice_sizes_), s);
  return {{squeeze(out, index_rank + 1, s)}, {0}};
}

// ---- GatherAxis ----

std::vector<Shape> GatherAxis::output_shapes(const std::vector<array>& inputs) {
  return {inputs[1].shape()};
}

std::vector<array> GatherAxis::jvp(const std::vector<array>& primals,
                                   const std::vector<array>& tangents,
                                   const std::vector<int>& argnums) {
  refuse_indices(argnums, 1, 2, "take_along_axis");
  return {take_along_axis(tangents[0], primals[1], axis_, stream())};
}

std::vector<array> GatherAxis::vjp(const std::vector<array>& primals,
                                   const std::vector<array>& cotangents,
                                   const std::vector<int>& argnums, const std::vector<array>&) {
  refuse_indices(argnums, 1, 2, "take_along_axis");
  return {*accumulate_vjp(zeros_like(primals[0], stream()), primals, cotangents[0])};
}

std::optional<array> GatherAxis::accumulate_vjp(const array& sum, const std::vector<array>& primals,
                                                const array& cotangent) {
  return scatter_add_axis(sum, primals[1], cotangent, axis_, stream());
}

VmapResult GatherAxis::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  int n = mapped_length(inputs, axes);
  array x = axis_in_front_or_repeated(inputs[0], axes[0], n, stream());
  array indices = axis_in_front_or_repeated(inputs[1], axes[1], n, stream());
  return {{take_along_axis(x, indices, axis_ + 1, stream())}, {0}};
}

// ---- Slice ----

namespace {

// With a negative stride, a resolved stop of -1 means "before the first". Makes it more negative,
// so that it does not mean the last element.
Shape spelled_stop(Shape stop, const Shape& strides, const Shape& shape) {
  for (size_t i = 0; i < stop.size(); ++i) {
    if (strides[i] < 0 && stop[i] < 0) {
      stop[i] = -shape[i] - 1;
    }
  }
  return stop;
}

}  // namespace

std::vector<Shape> Slice::output_shapes(const std::vector<array>&) {
  Shape shape;
  for (size_t i = 0; i < start_indices_.size(); ++i) {
    int step = strides_[i];
    int span = end_indices_[i] - start_indices_[i];
    shape.push_back(std::max((span + step - (step > 0 ? 1 : -1)) / step, 0));
  }
  return {shape};
}

std::vector<array> Slice::jvp(const std::vector<array>& primals, const std::vector<array>& tangents,
                              const std::vector<int>&) {
  Shape stop = spelled_stop(end_indices_, strides_, primals[0].shape());
  return {slice(tangents[0], start_indices_, stop, strides_, stream())};
}

std::vector<array> Slice::vjp(const std::vector<array>& primals,
                              const std::vector<array>& cotangents, const std::vector<int>&,
                              const std::vector<array>&) {
  Shape stop = spelled_stop(end_indices_, strides_, primals[0].shape());
  array zero = zeros_like(primals[0], stream());
  return {slice_update(zero, cotangents[0], start_indices_, stop, strides_, stream())};
}

std::optional<array> Slice::accumulate_vjp(const array& sum, const std::vector<array>&,
                                           const array& cotangent) {
  const Stream& s = stream();
  Shape stop = spelled_stop(end_indices_, strides_, sum.shape());
  array part = add(slice(sum, start_indices_, stop, strides_, s), cotangent, s);
  return slice_update(sum, part, start_indices_, stop, strides_, s);
}

VmapResult Slice::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  array x = axis_in_front(inputs[0], axes[0], stream());
  Shape element(x.shape().begin() + 1, x.shape().end());
  Shape stop = prepended(x.shape(0), spelled_stop(end_indices_, strides_, element));
  return {{slice(x, prepended(0, start_indices_), stop, prepended(1, strides_), stream())}, {0}};
}

// ---- SliceUpdate ----

std::vector<array> SliceUpdate::jvp(const std::vector<array>& primals,
                                    const std::vector<array>& tangents,
                                    const std::vector<int>& argnums) {
  Shape stop = spelled_stop(end_indices_, strides_, primals[0].shape());
  auto tangent = [&](int arg) {
    int at = position(argnums, arg);
    return at < 0 ? zeros_like(primals[arg], stream()) : tangents[at];
  };
  return {slice_update(tangent(0), tangent(1), start_indices_, stop, strides_, stream())};
}

std::vector<array> SliceUpdate::vjp(const std::vector<array>& primals,
                                    const std::vector<array>& cotangents,
                                    const std::vector<int>& argnums, const std::vector<array>&) {
  Shape stop = spelled_stop(end_indices_, strides_, primals[0].shape());
  const array& c = cotangents[0];
  std::vector<array> vjps;
  for (int arg : argnums) {
    vjps.push_back(
        arg == 0 ? slice_update(c, array(0, c.dtype()), start_indices_, stop, strides_, stream())
                 : slice(c, start_indices_, stop, strides_, stream()));
  }
  return vjps;
}

VmapResult SliceUpdate::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  int n = mapped_length(inputs, axes);
  array x = axis_in_front_or_repeated(inputs[0], axes[0], n, stream());
  array update = axis_in_front_or_new(inputs[1], axes[1], stream());
  Shape element(x.shape().begin() + 1, x.shape().end());
  Shape stop = prepended(n, spelled_stop(end_indices_, strides_, element));
  return {{slice_update(x, update, prepended(0, start_indices_), stop, prepended(1, strides_),
                        stream())},
          {0}};
}

// ---- DynamicSlice ----

std::vector<Shape> DynamicSlice::output_shapes(const std::vector<array>&) { return {slice_size_}; }

std::vector<array> DynamicSlice::jvp(const std::vector<array>& primals,
                                     const std::vector<array>& tangents,
                                     const std::vector<int>& argnums) {
  refuse_indices(argnums, 1, 2, "slice");
  return {slice(tangents[0], primals[1], axes_, slice_size_, stream())};
}

std::vector<array> DynamicSlice::vjp(const std::vector<array>& primals,
                                     const std::vector<array>& cotangents,
                                     const std::vector<int>& argnums, const std::vector<array>&) {
  refuse_indices(argnums, 1, 2, "slice");
  array zero = zeros_like(primals[0], stream());
  return {slice_update(zero, cotangents[0], primals[1], axes_, stream())};
}

std::optional<array> DynamicSlice::accumulate_vjp(const array& sum,
                                                  const std::vector<array>& primals,
                                                  const array& cotangent) {
  const Stream& s = stream();
  array part = add(slice(sum, primals[1], axes_, slice_size_, s), cotangent, s);
  return slice_update(sum, part, primals[1], axes_, s);
}

namespace {

// Splits starts (n, axes) into one index array per axis, each of shape (n). Negative starts count
// from the end; then all are clamped so that a slice fits.
std::vector<array> start_indices(const array& start, const Shape& shape, const Shape& slice_size,
                                 const std::vector<int>& axes, const Stream& s) {
  std::vector<array> out;
  for (size_t i = 0; i < axes.size(); ++i) {
    array index = astype(take(start, static_cast<int>(i), 1, s), int64, s);
    array length(int64_t{shape[axes[i]]}), last(int64_t{shape[axes[i]]} - slice_size[axes[i]]);
    array from_end = add(index, length, s);
    index = where(less(index, array(int64_t{0}), s), from_end, index, s);
    out.push_back(clip(index, array(int64_t{0}), last, s));
  }
  return out;
}

}  // namespace

VmapResult DynamicSlice::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  const Stream& s = stream();
  if (axes[1] < 0) {
    array x = axis_in_front(inputs[0], axes[0], s);
    return {{slice(x, inputs[1], shifted(axes_), prepended(x.shape(0), slice_size_), s)}, {0}};
  }
  array start = axis_in_front(inputs[1], axes[1], s);
  array x = axis_in_front_or_repeated(inputs[0], axes[0], start.shape(0), s);
  Shape element(x.shape().begin() + 1, x.shape().end());
  auto indices = start_indices(start, element, slice_size_, axes_, s);
  indices.insert(indices.begin(), arange(x.shape(0), s));
  auto all_axes = shifted(axes_);
  all_axes.insert(all_axes.begin(), 0);
  return {{squeeze(gather(x, indices, all_axes, prepended(1, slice_size_), s), 1, s)}, {0}};
}

// ---- DynamicSliceUpdate ----

std::vector<array> DynamicSliceUpdate::jvp(const std::vector<array>& primals,
                                           const std::vector<array>& tangents,
                                           const std::vector<int>& argnums) {
  refuse_indices(argnums, 2, 3, "slice_update");
  auto tangent = [&](int arg) {
    int at = position(argnums, arg);
    return at < 0 ? zeros_like(primals[arg], stream()) : tangents[at];
  };
  return {slice_update(tangent(0), tangent(1), primals[2], axes_, stream())};
}

std::vector<array> DynamicSliceUpdate::vjp(const std::vector<array>& primals,
                                           const std::vector<array>& cotangents,
                                           const std::vector<int>& argnums,
                                           const std::vector<array>&) {
  refuse_indices(argnums, 2, 3, "slice_update");
  const array& c = cotangents[0];
  std::vector<array> vjps;
  for (int arg : argnums) {
    if (arg == 0) {
      vjps.push_back(
          slice_update(c, zeros_like(primals[1], stream()), primals[2], axes_, stream()));
    } else {
      vjps.push_back(slice(c, primals[2], axes_, primals[1].shape(), stream()));
    }
  }
  return vjps;
}

VmapResult DynamicSliceUpdate::vmap(const std::vector<array>& inputs,
                                    const std::vector<int>& axes) {
  const Stream& s = stream();
  int n = mapped_length(inputs, axes);
  array x = axis_in_front_or_repeated(inputs[0], axes[0], n, s);
  if (n == 0) return {{x}, {0}};  // an axis of no elements has no place for updates
  array update = axis_in_front_or_repeated(inputs[1], axes[1], n, s);
  if (axes[2] < 0) {
    return {{slice_update(x, update, inputs[2], shifted(axes_), s)}, {0}};
  }
  array start = axis_in_front(inputs[2], axes[2], s);
  Shape element(x.shape().begin() + 1, x.shape().end());
  Shape size(update.shape().begin() + 1, update.shape().end());
  auto indices = start_indices(start, element, size, axes_, s);
  indices.insert(indices.begin(), arange(n, s));
  auto all_axes = shifted(axes_);
  all_axes.insert(all_axes.begin(), 0);
  return {{scatter(x, indices, expand_dims(update, 1, s), all_axes, s)}, {0}};
}

}  // namespace mlx::core
