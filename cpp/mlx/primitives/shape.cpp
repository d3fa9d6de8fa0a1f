// Primitives that change shape or layout. Derivatives apply the change or its inverse.
#include "mlx/primitives/shape.h"

#include <algorithm>

#include "mlx/backend/common/utils.h"
#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/primitives/rules.h"

namespace mlx::core {

// A rearrangement is linear: tangents are rearranged like the input (APPLY), cotangents by the
// inverse (INVERSE, which knows the input's shape). VMAP applies it with the mapped axis in front.
// In all three, x is the array, s the stream.
#define REARRANGEMENT(PRIMITIVE, APPLY, INVERSE, VMAP)                                             \
  std::vector<array> PRIMITIVE::jvp(const std::vector<array>&, const std::vector<array>& tangents, \
                                    const std::vector<int>&) {                                     \
    const array& x = tangents[0];                                                                  \
    const Stream& s = stream();                                                                    \
    return {APPLY};                                                                                \
  }                                                                                                \
  std::vector<array> PRIMITIVE::vjp(const std::vector<array>& primals,                             \
                                    const std::vector<array>& cotangents, const std::vector<int>&, \
                                    const std::vector<array>&) {                                   \
    [[maybe_unused]] const Shape& in_shape = primals[0].shape();                                   \
    const array& x = cotangents[0];                                                                \
    [[maybe_unused]] const Stream& s = stream();                                                   \
    return {INVERSE};                                                                              \
  }                                                                                                \
  VmapResult PRIMITIVE::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {     \
    const Stream& s = stream();                                                                    \
    array x = axis_in_front(inputs[0], axes[0], s);                                                \
    return {{VMAP}, {0}};                                                                          \
  }

namespace {

// Sums over the axes along which an array of this shape was broadcast.
array sum_to_shape(const array& x, const Shape& shape, const Stream& s) {
  int added = static_cast<int>(x.ndim() - shape.size());
  std::vector<int> axes;
  for (int i = 0; i < static_cast<int>(x.ndim()); ++i) {
    if (i < added || (shape[i - added] == 1 && x.shape(i) != 1)) {
      axes.push_back(i);
    }
  }
  return reshape(sum(x, axes, true, s), shape, s);
}

array broadcast_mapped(const array& x, const Shape& shape, const Stream& s) {
  // New axes of the broadcast are inserted behind the mapped one.
  Shape aligned(shape.size() - (x.ndim() - 1), 1);
  aligned.insert(aligned.begin(), x.shape(0));
  aligned.insert(aligned.end(), x.shape().begin() + 1, x.shape().end());
  return broadcast_to(reshape(x, aligned, s), prepended(x.shape(0), shape), s);
}

std::vector<int> transpose_mapped(const std::vector<int>& axes) {
  auto out = shifted(axes);
  out.insert(out.begin(), 0);
  return out;
}

std::vector<int> inverse_order(const std::vector<int>& axes) {
  std::vector<int> out(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    out[axes[i]] = static_cast<int>(i);
  }
  return out;
}

// The number of elements at one index of the first axis.
int64_t element_size(const array& x) {
  int64_t size = 1;
  for (size_t i = 1; i < x.ndim(); ++i) size = saturated_product(size, x.shape()[i]);
  return size;
}

}  // namespace

REARRANGEMENT(Contiguous, contiguous(x, allow_col_major_, s), x, contiguous(x, allow_col_major_, s))
REARRANGEMENT(ExpandDims, expand_dims(x, axes_, s), squeeze(x, axes_, s),
              expand_dims(x, shifted(axes_), s))
REARRANGEMENT(Flatten, flatten(x, start_axis_, end_axis_, s), reshape(x, in_shape, s),
              flatten(x, start_axis_ + 1, end_axis_ + 1, s))
REARRANGEMENT(Reshape, reshape(x, shape_, s), reshape(x, in_shape, s),
              reshape(x, prepended(x.shape(0), resolve(shape_, element_size(x))), s))
REARRANGEMENT(Squeeze, squeeze(x, axes_, s), expand_dims(x, axes_, s),
              squeeze(x, shifted(axes_), s))
REARRANGEMENT(Transpose, transpose(x, axes_, s), transpose(x, inverse_order(axes_), s),
              transpose(x, transpose_mapped(axes_), s))
REARRANGEMENT(Unflatten, unflatten(x, axis_, shape_, s), reshape(x, in_shape, s),
              unflatten(x, axis_ + 1, shape_, s))
#undef REARRANGEMENT

namespace {

// The rules of broadcasting to a shape. Only the shapes of the other arrays matter.
std::vector<array> broadcast_jvp(const std::vector<array>& primals,
                                 const std::vector<array>& tangents,
                                 const std::vector<int>& argnums, const Shape& shape,
                                 const Stream& s) {
  const int array_at = position(argnums, 0);
  if (array_at < 0) return {zeros(shape, primals[0].dtype(), s)};
  return {broadcast_to(tangents[array_at], shape, s)};
}

std::vector<array> broadcast_vjp(const std::vector<array>& primals, const array& cotangent,
                                 const std::vector<int>& argnums, const Stream& s) {
  auto out = zero_cotangents(primals, argnums, s);
  const int array_at = position(argnums, 0);
  if (array_at >= 0) out[array_at] = sum_to_shape(cotangent, primals[0].shape(), s);
  return out;
}

VmapResult broadcast_vmap(const array& input, int axis, const Shape& shape, const Stream& s) {
  if (axis < 0) return {{broadcast_to(input, shape, s)}, {-1}};
  return {{broadcast_mapped(axis_in_front(input, axis, s), shape, s)}, {0}};
}

}  // namespace

std::vector<array> Broadcast::jvp(const std::vector<array>& primals,
                                  const std::vector<array>& tangents,
                                  const std::vector<int>& argnums) {
  // The recorded shape; but if only other arrays are differentiated, the shape may differ from it.
  const Shape shape = position(argnums, 0) < 0 ? output_shapes(primals)[0] : shape_;
  return broadcast_jvp(primals, tangents, argnums, shape, stream());
}

std::vector<array> Broadcast::vjp(const std::vector<array>& primals,
                                  const std::vector<array>& cotangents,
                                  const std::vector<int>& argnums, const std::vector<array>&) {
  return broadcast_vjp(primals, cotangents[0], argnums, stream());
}

VmapResult Broadcast::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  return broadcast_vmap(inputs[0], axes[0], shape_, stream());
}

std::vector<Shape> Broadcast::output_shapes(const std::vector<array>& inputs) {
  if (inputs.size() == 1) {
    if (broadcast_shapes(inputs[0].shape(), shape_) == shape_) return {shape_};
    invalid_argument("broadcast_to", message("Cannot broadcast an array of shape ",
                                             inputs[0].shape(), " to ", shape_, "."));
  }
  Shape shape;
  for (const auto& in : inputs) shape = broadcast_shapes(shape, in.shape());
  return {shape};
}

namespace {

// Broadcasts the batch axes of all shapes; the last two axes are the first array's.
Shape broadcast_batches_of(const std::vector<Shape>& shapes) {
  Shape shape;
  for (const auto& s : shapes) shape = broadcast_shapes(shape, Shape(s.begin(), s.end() - 2));
  shape.insert(shape.end(), shapes[0].end() - 2, shapes[0].end());
  return shape;
}

std::vector<Shape> shapes_of(const std::vector<array>& arrays) {
  std::vector<Shape> shapes;
  for (const auto& a : arrays) shapes.push_back(a.shape());
  return shapes;
}

}  // namespace

std::vector<array> BroadcastAxes::jvp(const std::vector<array>& primals,
                                      const std::vector<array>& tangents,
                                      const std::vector<int>& argnums) {
  return broadcast_jvp(primals, tangents, argnums, output_shapes(primals)[0], stream());
}

std::vector<array> BroadcastAxes::vjp(const std::vector<array>& primals,
                                      const std::vector<array>& cotangents,
                                      const std::vector<int>& argnums, const std::vector<array>&) {
  return broadcast_vjp(primals, cotangents[0], argnums, stream());
}

VmapResult BroadcastAxes::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  std::vector<Shape> shapes = shapes_of(inputs);
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (axes[i] >= 0) shapes[i].erase(shapes[i].begin() + axes[i]);
  }
  return broadcast_vmap(inputs[0], axes[0], broadcast_batches_of(shapes), stream());
}

std::vector<Shape> BroadcastAxes::output_shapes(const std::vector<array>& inputs) {
  return {broadcast_batches_of(shapes_of(inputs))};
}

std::vector<Shape> Contiguous::output_shapes(const std::vector<array>& inputs) {
  return {inputs[0].shape()};
}

std::vector<Shape> ExpandDims::output_shapes(const std::vector<array>& inputs) {
  Shape shape = inputs[0].shape();
  for (int axis : axes_) {
    shape.insert(shape.begin() + axis, 1);
  }
  return {shape};
}

std::vector<Shape> Flatten::output_shapes(const std::vector<array>& inputs) {
  Shape shape = inputs[0].shape();
  int64_t length = 1;
  for (int axis = start_axis_; axis <= end_axis_; ++axis) {
    length = saturated_product(length, shape[axis]);
  }
  shape[start_axis_] = checked_extent(length, "flatten");
  shape.erase(shape.begin() + start_axis_ + 1, shape.begin() + end_axis_ + 1);
  return {shape};
}

Shape Reshape::resolve(const Shape& shape, int64_t size) {
  int64_t known = 1;
  int unknown = -1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1 && unknown < 0) {
      unknown = static_cast<int>(i);
    } else if (shape[i] < 0) {
      invalid_argument("reshape", message("The shape ", shape,
                                          " may hold one -1, and no other negative length."));
    } else {
      known = saturated_product(known, shape[i]);
    }
  }
  if (unknown < 0) {
    if (known != size) {
      invalid_argument("reshape",
                       message("Cannot reshape array of size ", size, " into shape ", shape, "."));
    }
    return shape;
  }
  if (known == 0 || size % known != 0) {
    invalid_argument(
        "reshape", message("Cannot infer the shape ", shape, " for an array of size ", size, "."));
  }
  Shape out = shape;
  out[unknown] = checked_extent(size / known, "reshape");
  return out;
}

std::vector<Shape> Reshape::output_shapes(const std::vector<array>& inputs) {
  return {resolve(shape_, static_cast<int64_t>(inputs[0].size()))};
}

std::vector<Shape> Squeeze::output_shapes(const std::vector<array>& inputs) {
  Shape shape;
  for (int i = 0; i < static_cast<int>(inputs[0].ndim()); ++i) {
    if (!std::binary_search(axes_.begin(), axes_.end(), i)) {
      shape.push_back(inputs[0].shape(i));
    }
  }
  return {shape};
}

std::vector<Shape> Transpose::output_shapes(const std::vector<array>& inputs) {
  Shape shape;
  for (int axis : axes_) {
    shape.push_back(inputs[0].shape(axis));
  }
  return {shape};
}

std::vector<Shape> Unflatten::output_shapes(const std::vector<array>& inputs) {
  Shape parts = shape_;
  auto unknown = std::find(parts.begin(), parts.end(), -1);
  int64_t known = 1;
  for (auto it = parts.begin(); it != parts.end(); ++it) {
    if (it != unknown) known = saturated_product(known, std::max(*it, 0));
  }
  const int length = inputs[0].shape(axis_);
  if (unknown != parts.end() && known > 0 && length % known == 0) {
    *unknown = static_cast<ShapeElem>(length / known);  // no longer than the axis
    known = length;
  }
  if (known != length || std::any_of(parts.begin(), parts.end(), [](int n) { return n < 0; })) {
    invalid_argument("unflatten", message("Cannot split axis ", axis_, " of length ", length,
                                          " into ", shape_, "."));
  }
  Shape shape = inputs[0].shape();
  shape.erase(shape.begin() + axis_);
  shape.insert(shape.begin() + axis_, parts.begin(), parts.end());
  return {shape};
}

// ---- AsStrided ----

std::vector<Shape> AsStrided::output_shapes(const std::vector<array>&) { return {shape_}; }

std::vector<array> AsStrided::jvp(const std::vector<array>&, const std::vector<array>& tangents,
                                  const std::vector<int>&) {
  return {as_strided(tangents[0], shape_, strides_, offset_, stream())};
}

std::vector<array> AsStrided::vjp(const std::vector<array>& primals,
                                  const std::vector<array>& cotangents, const std::vector<int>&,
                                  const std::vector<array>&) {
  // An element that the view contains several times gets the sum of its cotangents.
  int size = checked_extent(primals[0].size(), "as_strided");
  array places = reshape(as_strided(arange(size, stream()), shape_, strides_, offset_, stream()),
                         {-1}, stream());
  array updates = reshape(cotangents[0], {-1, 1}, stream());
  array flat =
      scatter_add(zeros({size}, cotangents[0].dtype(), stream()), {places}, updates, {0}, stream());
  return {reshape(flat, primals[0].shape(), stream())};
}

VmapResult AsStrided::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  array x = axis_in_front(inputs[0], axes[0], stream());
  Shape shape = prepended(x.shape(0), shape_);
  Strides strides = strides_;
  strides.insert(strides.begin(), static_cast<int64_t>(x.size() / std::max(x.shape(0), 1)));
  return {{as_strided(x, shape, strides, offset_, stream())}, {0}};
}

// ---- NumberOfElements ----

std::vector<Shape> NumberOfElements::output_shapes(const std::vector<array>&) { return {Shape{}}; }

std::vector<array> NumberOfElements::jvp(const std::vector<array>&, const std::vector<array>&,
                                         const std::vector<int>&) {
  return {array(0, dtype_)};
}

std::vector<array> NumberOfElements::vjp(const std::vector<array>& primals,
                                         const std::vector<array>&, const std::vector<int>& argnums,
                                         const std::vector<array>&) {
  return zero_cotangents(primals, argnums, stream());
}

VmapResult NumberOfElements::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  array x = axis_in_front(inputs[0], axes[0], stream());
  return {{number_of_elements(x, shifted(axes_), inverted_, dtype_, stream())}, {-1}};
}

// ---- View ----

std::vector<Shape> View::output_shapes(const std::vector<array>& inputs) {
  Shape shape = inputs[0].shape();
  if (!shape.empty()) {
    shape.back() = static_cast<ShapeElem>(
        shape.back() * static_cast<int64_t>(inputs[0].itemsize()) / dtype_.size());
  }
  return {shape};
}

namespace {

// Only views of complex numbers as pairs of floats, and back, have a derivative.
bool is_pair_view(Dtype a, Dtype b) {
  return (a == complex64 && b == float32) || (a == float32 && b == complex64);
}

}  // namespace

std::vector<array> View::jvp(const std::vector<array>& primals, const std::vector<array>& tangents,
                             const std::vector<int>&) {
  if (is_pair_view(primals[0].dtype(), dtype_)) {
    return {view(tangents[0], dtype_, stream())};
  }
  return {zeros(output_shapes(primals)[0], dtype_, stream())};
}

std::vector<array> View::vjp(const std::vector<array>& primals,
                             const std::vector<array>& cotangents, const std::vector<int>& argnums,
                             const std::vector<array>&) {
  if (is_pair_view(primals[0].dtype(), dtype_)) {
    return {view(cotangents[0], primals[0].dtype(), stream())};
  }
  return zero_cotangents(primals, argnums, stream());
}

VmapResult View::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  return {{view(axis_in_front(inputs[0], axes[0], stream()), dtype_, stream())}, {0}};
}

}  // namespace mlx::core
