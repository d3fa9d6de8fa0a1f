// Operations that concatenate, split or repeat arrays.
#include <algorithm>
#include <numeric>

#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"
#include "mlx/primitives/shape.h"

namespace mlx::core {

array concatenate(std::vector<array> arrays, int axis, StreamOrDevice s) {
  if (arrays.empty()) {
    invalid_argument("concatenate", "At least one array must be given.");
  }
  axis = normalize_axis_index(axis, rank(arrays[0]), "concatenate");
  Shape shape = arrays[0].shape();
  shape[axis] = 0;
  for (const auto& a : arrays) {
    Shape rest = a.shape();
    bool same_rank = rest.size() == shape.size();
    if (same_rank) {
      rest[axis] = shape[axis];
    }
    if (!same_rank || rest != shape) {
      invalid_argument("concatenate", message("All lengths but that of axis ", axis,
                                              " must match, but the shapes are ", arrays[0].shape(),
                                              " and ", a.shape(), "."));
    }
    shape[axis] = checked_extent(int64_t{shape[axis]} + a.shape(axis), "concatenate");
  }
  if (arrays.size() == 1) {
    return arrays[0];
  }
  Stream stream = to_stream(s);
  Dtype dtype = result_type(arrays);
  for (auto& a : arrays) {
    a = astype(a, dtype, stream);
  }
  return array(std::move(shape), dtype, std::make_shared<Concatenate>(stream, axis),
               std::move(arrays));
}

array concatenate(std::vector<array> arrays, StreamOrDevice s) {
  for (auto& a : arrays) {
    a = reshape(a, {-1}, s);
  }
  return concatenate(std::move(arrays), 0, s);
}

array stack(const std::vector<array>& arrays, int axis, StreamOrDevice s) {
  if (arrays.empty()) {
    invalid_argument("stack", "At least one array must be given.");
  }
  if (!is_same_shape(arrays)) {
    invalid_argument("stack", "All arrays must have the same shape.");
  }
  axis = normalize_axis_index(axis, rank(arrays[0]) + 1, "stack");
  std::vector<array> expanded;
  for (const auto& a : arrays) {
    expanded.push_back(expand_dims(a, axis, s));
  }
  return concatenate(std::move(expanded), axis, s);
}

array stack(const std::vector<array>& arrays, StreamOrDevice s) { return stack(arrays, 0, s); }

std::vector<array> unstack(const array& a, int axis, StreamOrDevice s) {
  axis = normalize_axis_index(axis, rank(a), "unstack");
  std::vector<array> out;
  if (a.shape(axis) > 0) {
    for (const auto& part : split(a, a.shape(axis), axis, s)) {
      out.push_back(squeeze(part, axis, s));
    }
  }
  return out;
}

std::vector<array> split(const array& a, const Shape& indices, int axis, StreamOrDevice s) {
  axis = normalize_axis_index(axis, rank(a), "split");
  int n = a.shape(axis);
  Shape cuts;
  for (int index : indices) {
    cuts.push_back(std::clamp(index < 0 ? index + n : index, 0, n));
  }
  if (cuts.empty()) {
    return {a};
  }
  auto primitive = std::make_shared<Split>(to_stream(s), cuts, axis);
  auto shapes = primitive->output_shapes({a});
  return array::make_arrays(shapes, std::vector<Dtype>(shapes.size(), a.dtype()), primitive, {a});
}

std::vector<array> split(const array& a, const Shape& indices, StreamOrDevice s) {
  return split(a, indices, 0, s);
}

std::vector<array> split(const array& a, int num_splits, int axis, StreamOrDevice s) {
  axis = normalize_axis_index(axis, rank(a), "split");
  int n = a.shape(axis);
  if (num_splits <= 0 || n % num_splits != 0) {
    invalid_argument("split", message("An axis of length ", n, " cannot be split into ", num_splits,
                                      " equal parts."));
  }
  Shape indices;
  for (int i = 1; i < num_splits; ++i) {
    indices.push_back(i * (n / num_splits));
  }
  return split(a, indices, axis, s);
}

std::vector<array> split(const array& a, int num_splits, StreamOrDevice s) {
  return split(a, num_splits, 0, s);
}

array repeat(const array& a, int repeats, int axis, StreamOrDevice s) {
  axis = normalize_axis_index(axis, rank(a), "repeat");
  if (repeats < 0) {
    invalid_argument(
        "repeat", message("The number of repetitions must not be negative, but is ", repeats, "."));
  }
  if (repeats == 1) {
    return a;
  }
  checked_extent(int64_t{repeats} * a.shape(axis), "repeat");
  Shape shape = a.shape();
  shape.insert(shape.begin() + axis + 1, repeats);
  return flatten(broadcast_to(expand_dims(a, axis + 1, s), shape, s), axis, axis + 1, s);
}

array repeat(const array& a, int repeats, StreamOrDevice s) {
  return repeat(reshape(a, {-1}, s), repeats, 0, s);
}

array tile(const array& a, std::vector<int> reps, StreamOrDevice s) {
  if (std::any_of(reps.begin(), reps.end(), [](int n) { return n < 0; })) {
    invalid_argument("tile", "Numbers of repetitions must not be negative.");
  }
  Shape shape = a.shape();
  size_t ndim = std::max(shape.size(), reps.size());
  shape.insert(shape.begin(), ndim - shape.size(), 1);
  reps.insert(reps.begin(), ndim - reps.size(), 1);
  // Inserts an axis before each repeated axis, along which the array is broadcast.
  Shape expanded, repeated, out;
  for (size_t i = 0; i < ndim; ++i) {
    if (reps[i] != 1) {
      expanded.push_back(1);
      repeated.push_back(reps[i]);
    }
    expanded.push_back(shape[i]);
    repeated.push_back(shape[i]);
    out.push_back(checked_extent(int64_t{reps[i]} * shape[i], "tile"));
  }
  return reshape(broadcast_to(reshape(a, expanded, s), repeated, s), out, s);
}

array flip(const array& a, const std::vector<int>& given_axes, StreamOrDevice s) {
  Shape start(a.ndim(), 0), stop = a.shape(), strides(a.ndim(), 1);
  for (int given : given_axes) {
    const int axis = normalize_axis_index(given, rank(a), "flip");
    start[axis] = a.shape(axis) - 1;
    stop[axis] = -a.shape(axis) - 1;
    strides[axis] = -1;
  }
  return slice(a, start, stop, strides, s);
}

array flip(const array& a, int axis, StreamOrDevice s) {
  return flip(a, std::vector<int>{axis}, s);
}

array flip(const array& a, StreamOrDevice s) { return flip(a, all_axes(a), s); }

array roll(const array& a, const Shape& shift, const std::vector<int>& axes, StreamOrDevice s) {
  if (shift.size() < axes.size()) {
    invalid_argument("roll", message("There must be a shift for each axis, but there are ",
                                     shift.size(), " for ", axes.size(), " axes."));
  }
  array out = a;
  for (size_t i = 0; i < axes.size(); ++i) {
    int axis = normalize_axis_index(axes[i], rank(a), "roll");
    int n = a.shape(axis);
    int by = n == 0 ? 0 : shift[i] % n;
    by = by < 0 ? by + n : by;
    if (by != 0) {
      auto parts = split(out, Shape{n - by}, axis, s);
      out = concatenate({parts[1], parts[0]}, axis, s);
    }
  }
  return out;
}

array roll(const array& a, const Shape& shift, StreamOrDevice s) {
  return reshape(roll(reshape(a, {-1}, s), shift, 0, s), a.shape(), s);
}

array roll(const array& a, int shift, StreamOrDevice s) { return roll(a, Shape{shift}, s); }

array roll(const array& a, int shift, int axis, StreamOrDevice s) {
  return roll(a, Shape{shift}, std::vector<int>{axis}, s);
}

array roll(const array& a, int shift, const std::vector<int>& axes, StreamOrDevice s) {
  return roll(a, Shape(axes.size(), shift), axes, s);
}

array roll(const array& a, const Shape& shift, int axis, StreamOrDevice s) {
  int n = std::max(a.shape(normalize_axis_index(axis, rank(a), "roll")), 1);
  int64_t total = std::accumulate(shift.begin(), shift.end(), int64_t{0});
  return roll(a, Shape{static_cast<ShapeElem>(total % n)}, std::vector<int>{axis}, s);
}

std::vector<array> meshgrid(const std::vector<array>& arrays, bool sparse,
                            const std::string& indexing, StreamOrDevice s) {
  if (indexing != "xy" && indexing != "ij") {
    invalid_argument("meshgrid",
                     "Invalid indexing value \"" + indexing + "\": it must be \"xy\" or \"ij\".");
  }
  std::vector<array> out;
  int ndim = static_cast<int>(arrays.size());
  for (int i = 0; i < ndim; ++i) {
    Shape shape(ndim, 1);
    shape[i] = -1;
    out.push_back(reshape(arrays[i], shape, s));
  }
  if (indexing == "xy" && ndim > 1) {
    for (auto& a : out) {
      a = swapaxes(a, 0, 1, s);
    }
  }
  return sparse ? out : broadcast_arrays(out, s);
}

}  // namespace mlx::core
