// Primitives that change an array's shape or layout; most make views. Axes are >= 0, and sorted
// unless a comment says otherwise.
#pragma once

#include "mlx/primitives/primitive.h"

namespace mlx::core {

#define DEFINE_SHAPE_RULES(PRIMITIVE) \
  DEFINE_EVAL()                       \
  DEFINE_GRADS()                      \
  DEFINE_VMAP()                       \
  DEFINE_NAME(PRIMITIVE)              \
  DEFINE_OUTPUT_SHAPES()

class AsStrided : public UnaryPrimitive {
 public:
  // Strides and offset count elements of the (row-contiguous) input.
  explicit AsStrided(Stream stream, Shape shape, Strides strides, size_t offset)
      : UnaryPrimitive(stream),
        shape_(std::move(shape)),
        strides_(std::move(strides)),
        offset_(offset) {}
  DEFINE_SHAPE_RULES(AsStrided)
  DEFINE_STATE(AsStrided, shape_, strides_, offset_)

 private:
  Shape shape_;
  Strides strides_;
  size_t offset_;
};

// inputs: the array; then, if shapes are not fixed, arrays that it is broadcast against.
class Broadcast : public UnaryPrimitive {
 public:
  explicit Broadcast(Stream stream, const Shape& shape) : UnaryPrimitive(stream), shape_(shape) {}
  DEFINE_SHAPE_RULES(Broadcast)
  DEFINE_STATE(Broadcast, shape_)

 private:
  Shape shape_;
};

// Broadcasts the axes in front of the last two, which are kept, in graphs for all shapes.
// inputs: the array, arrays that it is broadcast against.
class BroadcastAxes : public UnaryPrimitive {
 public:
  explicit BroadcastAxes(Stream stream) : UnaryPrimitive(stream) {}
  DEFINE_SHAPE_RULES(BroadcastAxes)
  DEFINE_STATE(BroadcastAxes)
};

class Concatenate : public UnaryPrimitive {
 public:
  explicit Concatenate(Stream stream, int axis) : UnaryPrimitive(stream), axis_(axis) {}
  DEFINE_SHAPE_RULES(Concatenate)
  DEFINE_STATE(Concatenate, axis_)

 private:
  int axis_;
};

// Returns the input if it is row-contiguous (or column-contiguous, if allowed), else a
// row-contiguous copy.
class Contiguous : public UnaryPrimitive {
 public:
  explicit Contiguous(Stream stream, bool allow_col_major)
      : UnaryPrimitive(stream), allow_col_major_(allow_col_major) {}
  DEFINE_SHAPE_RULES(Contiguous)
  DEFINE_STATE(Contiguous, allow_col_major_)

 private:
  bool allow_col_major_;
};

// New axes of length 1 at `axes` of the output.
class ExpandDims : public UnaryPrimitive {
 public:
  explicit ExpandDims(Stream stream, std::vector<int> axes)
      : UnaryPrimitive(stream), axes_(std::move(axes)) {}
  DEFINE_SHAPE_RULES(ExpandDims)
  DEFINE_STATE(ExpandDims, axes_)

 private:
  std::vector<int> axes_;
};

// Merges the axes start..end (inclusive).
class Flatten : public UnaryPrimitive {
 public:
  explicit Flatten(Stream stream, int start_axis, int end_axis)
      : UnaryPrimitive(stream), start_axis_(start_axis), end_axis_(end_axis) {}
  DEFINE_SHAPE_RULES(Flatten)
  DEFINE_STATE(Flatten, start_axis_, end_axis_)

 private:
  int start_axis_;
  int end_axis_;
};

// The product of the lengths of `axes` as a scalar of `dtype` (1 / product if inverted).
class NumberOfElements : public UnaryPrimitive {
 public:
  explicit NumberOfElements(Stream stream, std::vector<int> axes, bool inverted, Dtype dtype)
      : UnaryPrimitive(stream), axes_(std::move(axes)), inverted_(inverted), dtype_(dtype) {}
  DEFINE_SHAPE_RULES(NumberOfElements)
  DEFINE_STATE(NumberOfElements, axes_, inverted_, dtype_.val())

 private:
  std::vector<int> axes_;
  bool inverted_;
  Dtype dtype_;
};

// inputs: array, scalar pad value of its type.
class Pad : public UnaryPrimitive {
 public:
  explicit Pad(Stream stream, const std::vector<int>& axes, const Shape& low_pad_size,
               const Shape& high_pad_size)
      : UnaryPrimitive(stream),
        axes_(axes),
        low_pad_size_(low_pad_size),
        high_pad_size_(high_pad_size) {}
  DEFINE_SHAPE_RULES(Pad)
  DEFINE_STATE(Pad, axes_, low_pad_size_, high_pad_size_)

 private:
  std::vector<int> axes_;
  Shape low_pad_size_;
  Shape high_pad_size_;
};

// One length of the shape may be -1: it follows from the number of elements.
class Reshape : public UnaryPrimitive {
 public:
  explicit Reshape(Stream stream, const Shape& shape) : UnaryPrimitive(stream), shape_(shape) {}
  DEFINE_SHAPE_RULES(Reshape)
  DEFINE_STATE(Reshape, shape_)

  // The complete shape for an array of `size` elements.
  static Shape resolve(const Shape& shape, int64_t size);

 private:
  Shape shape_;
};

// Outputs are the parts between consecutive `indices` along `axis`.
class Split : public Primitive {
 public:
  explicit Split(Stream stream, const Shape& indices, int axis)
      : Primitive(stream), indices_(indices), axis_(axis) {}
  DEFINE_EVAL_MULTI()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(Split)
  DEFINE_STATE(Split, indices_, axis_)
  DEFINE_OUTPUT_SHAPES()

 private:
  Shape indices_;
  int axis_;
};

class Squeeze : public UnaryPrimitive {
 public:
  explicit Squeeze(Stream stream, std::vector<int> axes)
      : UnaryPrimitive(stream), axes_(std::move(axes)) {}
  DEFINE_SHAPE_RULES(Squeeze)
  DEFINE_STATE(Squeeze, axes_)

 private:
  std::vector<int> axes_;
};

// Output axis i is input axis axes[i].
class Transpose : public UnaryPrimitive {
 public:
  explicit Transpose(Stream stream, const std::vector<int>& axes)
      : UnaryPrimitive(stream), axes_(axes) {}
  DEFINE_SHAPE_RULES(Transpose)
  DEFINE_STATE(Transpose, axes_)

 private:
  std::vector<int> axes_;
};

// Splits one axis into several.
// One length of the shape may be -1, as in Reshape.
class Unflatten : public UnaryPrimitive {
 public:
  explicit Unflatten(Stream stream, int axis, Shape shape)
      : UnaryPrimitive(stream), axis_(axis), shape_(std::move(shape)) {}
  DEFINE_SHAPE_RULES(Unflatten)
  DEFINE_STATE(Unflatten, axis_, shape_)

 private:
  int axis_;
  Shape shape_;
};

// The same bytes as another type; the length of the last axis changes with the item size.
class View : public UnaryPrimitive {
 public:
  explicit View(Stream stream, Dtype dtype) : UnaryPrimitive(stream), dtype_(dtype) {}
  DEFINE_SHAPE_RULES(View)
  DEFINE_STATE(View, dtype_.val())

 private:
  Dtype dtype_;
};

}  // namespace mlx::core
