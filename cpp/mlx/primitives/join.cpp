// Concatenation, splitting and padding: shapes, derivatives, vmap.
#include <algorithm>

#include "mlx/ops.h"
#include "mlx/primitives/rules.h"
#include "mlx/primitives/shape.h"

namespace mlx::core {

// ---- Concatenate ----

std::vector<Shape> Concatenate::output_shapes(const std::vector<array>& inputs) {
  Shape shape = inputs[0].shape();
  for (size_t i = 1; i < inputs.size(); ++i) {
    shape[axis_] += inputs[i].shape(axis_);
  }
  return {shape};
}

std::vector<array> Concatenate::jvp(const std::vector<array>& primals,
                                    const std::vector<array>& tangents,
                                    const std::vector<int>& argnums) {
  std::vector<array> parts;
  for (int i = 0; i < static_cast<int>(primals.size()); ++i) {
    int at = position(argnums, i);
    parts.push_back(at < 0 ? zeros(primals[i].shape(), tangents[0].dtype(), stream())
                           : tangents[at]);
  }
  return {concatenate(std::move(parts), axis_, stream())};
}

std::vector<array> Concatenate::vjp(const std::vector<array>& primals,
                                    const std::vector<array>& cotangents,
                                    const std::vector<int>& argnums, const std::vector<array>&) {
  std::vector<array> vjps;
  for (int arg : argnums) {
    Shape start(primals[0].ndim(), 0);
    for (int i = 0; i < arg; ++i) {
      start[axis_] += primals[i].shape(axis_);
    }
    Shape stop = cotangents[0].shape();
    stop[axis_] = start[axis_] + primals[arg].shape(axis_);
    vjps.push_back(slice(cotangents[0], start, stop, stream()));
  }
  return vjps;
}

VmapResult Concatenate::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  int n = mapped_length(inputs, axes);
  std::vector<array> parts;
  for (size_t i = 0; i < inputs.size(); ++i) {
    parts.push_back(axis_in_front_or_repeated(inputs[i], axes[i], n, stream()));
  }
  return {{concatenate(std::move(parts), axis_ + 1, stream())}, {0}};
}

// ---- Split ----

std::vector<Shape> Split::output_shapes(const std::vector<array>& inputs) {
  std::vector<Shape> shapes;
  int from = 0;
  for (size_t i = 0; i <= indices_.size(); ++i) {
    int to = i < indices_.size() ? indices_[i] : inputs[0].shape(axis_);
    Shape shape = inputs[0].shape();
    shape[axis_] = std::max(to - from, 0);
    shapes.push_back(std::move(shape));
    from = to;
  }
  return shapes;
}

std::vector<array> Split::jvp(const std::vector<array>&, const std::vector<array>& tangents,
                              const std::vector<int>&) {
  return split(tangents[0], indices_, axis_, stream());
}

std::vector<array> Split::vjp(const std::vector<array>& primals,
                              const std::vector<array>& cotangents, const std::vector<int>&,
                              const std::vector<array>&) {
  if (std::is_sorted(indices_.begin(), indices_.end())) {
    return {concatenate(cotangents, axis_, stream())};
  }
  // The parts overlap if the indices decrease.
  array out = zeros_like(primals[0], stream());
  Shape starts{0};
  starts.insert(starts.end(), indices_.begin(), indices_.end());
  for (size_t i = 0; i < cotangents.size(); ++i) {
    int after = primals[0].shape(axis_) - starts[i] - cotangents[i].shape(axis_);
    array part = pad(cotangents[i], {axis_}, {starts[i]}, {after}, array(0), "constant", stream());
    out = add(out, part, stream());
  }
  return {out};
}

VmapResult Split::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  auto parts = split(axis_in_front(inputs[0], axes[0], stream()), indices_, axis_ + 1, stream());
  std::vector<int> out_axes(parts.size(), 0);
  return {std::move(parts), std::move(out_axes)};
}

// ---- Pad ----

std::vector<Shape> Pad::output_shapes(const std::vector<array>& inputs) {
  Shape shape = inputs[0].shape();
  for (size_t i = 0; i < axes_.size(); ++i) {
    shape[axes_[i]] += low_pad_size_[i] + high_pad_size_[i];
  }
  return {shape};
}

std::vector<array> Pad::jvp(const std::vector<array>& primals, const std::vector<array>& tangents,
                            const std::vector<int>& argnums) {
  int of_array = position(argnums, 0);
  int of_value = position(argnums, 1);
  Dtype dtype = tangents[0].dtype();
  array inside = of_array < 0 ? zeros(primals[0].shape(), dtype, stream()) : tangents[of_array];
  array around = of_value < 0 ? array(0, dtype) : tangents[of_value];
  return {pad(inside, axes_, low_pad_size_, high_pad_size_, around, "constant", stream())};
}

std::vector<array> Pad::vjp(const std::vector<array>& primals, const std::vector<array>& cotangents,
                            const std::vector<int>& argnums, const std::vector<array>&) {
  const array& c = cotangents[0];
  Shape start(c.ndim(), 0);
  Shape stop = c.shape();
  for (size_t i = 0; i < axes_.size(); ++i) {
    start[axes_[i]] = low_pad_size_[i];
    stop[axes_[i]] -= high_pad_size_[i];
  }
  array inside = slice(c, start, stop, stream());
  std::vector<array> vjps;
  for (int arg : argnums) {
    if (arg == 0) {
      vjps.push_back(inside);
    } else {
      array around = subtract(sum(c, false, stream()), sum(inside, false, stream()), stream());
      vjps.push_back(reshape(around, primals[1].shape(), stream()));
    }
  }
  return vjps;
}

VmapResult Pad::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  const Stream& s = stream();
  auto moved = shifted(axes_);
  if (axes[1] < 0) {
    array x = axis_in_front(inputs[0], axes[0], s);
    return {{pad(x, moved, low_pad_size_, high_pad_size_, inputs[1], "constant", s)}, {0}};
  }
  // Each element has its own value: pads with zeros, and a mask selects where to put the value.
  array x = axis_in_front_or_repeated(inputs[0], axes[0], inputs[1].shape(0), s);
  array padded = pad(x, moved, low_pad_size_, high_pad_size_, array(0, x.dtype()), "constant", s);
  array inside = pad(ones(x.shape(), bool_, s), moved, low_pad_size_, high_pad_size_, array(false),
                     "constant", s);
  Shape value_shape(x.ndim(), 1);
  value_shape[0] = -1;
  return {{where(inside, padded, reshape(inputs[1], value_shape, s), s)}, {0}};
}

}  // namespace mlx::core
