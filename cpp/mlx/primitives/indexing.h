// Slices, and gathers and scatters by index arrays.
#pragma once

#include "mlx/primitives/primitive.h"

namespace mlx::core {

// inputs: array, one integer index array per entry of `axes` (all of one shape). Output shape:
// indices' shape + slice_sizes (one entry per axis of the array). Negative indices count from the
// end. An index out of range reads an undefined element of the array.
class Gather : public UnaryPrimitive {
 public:
  explicit Gather(Stream stream, std::vector<int> axes, Shape slice_sizes)
      : UnaryPrimitive(stream), axes_(std::move(axes)), slice_sizes_(std::move(slice_sizes)) {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_ACCUMULATE_VJP()
  DEFINE_VMAP()
  DEFINE_NAME(Gather)
  DEFINE_STATE(Gather, axes_, slice_sizes_)
  DEFINE_OUTPUT_SHAPES()

 private:
  std::vector<int> axes_;
  Shape slice_sizes_;
};

// inputs: array, indices (same rank; lengths of the other axes agree). out[.., i, ..] = array[..,
// indices[.., i, ..], ..]
class GatherAxis : public UnaryPrimitive {
 public:
  explicit GatherAxis(Stream stream, int axis) : UnaryPrimitive(stream), axis_(axis) {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_ACCUMULATE_VJP()
  DEFINE_VMAP()
  DEFINE_NAME(GatherAxis)
  DEFINE_STATE(GatherAxis, axis_)
  DEFINE_OUTPUT_SHAPES()

 private:
  int axis_;
};

// inputs: array, index arrays (as Gather), updates of shape indices' shape + slice shape (one entry
// per axis of the array). Output: the array with the updates written or combined at the indices;
// out-of-range updates are dropped.
class Scatter : public UnaryPrimitive {
 public:
  enum ReduceType { Max, Min, Sum, Prod, None };
  explicit Scatter(Stream stream, ReduceType reduce_type, const std::vector<int>& axes)
      : UnaryPrimitive(stream), reduce_type_(reduce_type), axes_(axes) {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  const char* name() const override;
  DEFINE_STATE(Scatter, reduce_type_, axes_)
  DEFINE_INPUT_OUTPUT_SHAPE()

 private:
  ReduceType reduce_type_;
  std::vector<int> axes_;
};

// inputs: array, indices, updates (the indices' shape).
class ScatterAxis : public UnaryPrimitive {
 public:
  enum ReduceType { Sum, None };
  explicit ScatterAxis(Stream stream, ReduceType reduce_type, int axis)
      : UnaryPrimitive(stream), reduce_type_(reduce_type), axis_(axis) {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  const char* name() const override;
  DEFINE_STATE(ScatterAxis, reduce_type_, axis_)
  DEFINE_INPUT_OUTPUT_SHAPE()

 private:
  ReduceType reduce_type_;
  int axis_;
};

// A view: start, end (exclusive) and stride per axis, all resolved: with a negative stride, start >
// end and end may be -1; otherwise 0 <= start <= end <= length.
class Slice : public UnaryPrimitive {
 public:
  explicit Slice(Stream stream, const Shape& start_indices, const Shape& end_indices,
                 const Shape& strides)
      : UnaryPrimitive(stream),
        start_indices_(start_indices),
        end_indices_(end_indices),
        strides_(strides) {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_ACCUMULATE_VJP()
  DEFINE_VMAP()
  DEFINE_NAME(Slice)
  DEFINE_STATE(Slice, start_indices_, end_indices_, strides_)
  DEFINE_OUTPUT_SHAPES()

 private:
  Shape start_indices_;
  Shape end_indices_;
  Shape strides_;
};

// inputs: array, update (the slice's shape). Output: the array with the slice replaced.
class SliceUpdate : public UnaryPrimitive {
 public:
  explicit SliceUpdate(Stream stream, const Shape& start_indices, const Shape& end_indices,
                       const Shape& strides)
      : UnaryPrimitive(stream),
        start_indices_(start_indices),
        end_indices_(end_indices),
        strides_(strides) {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(SliceUpdate)
  DEFINE_STATE(SliceUpdate, start_indices_, end_indices_, strides_)
  DEFINE_INPUT_OUTPUT_SHAPE()

 private:
  Shape start_indices_;
  Shape end_indices_;
  Shape strides_;
};

// inputs: array, start (1-D integers, one per entry of `axes`). The output has the shape
// slice_size; starts are clamped so that it fits.
class DynamicSlice : public UnaryPrimitive {
 public:
  explicit DynamicSlice(Stream stream, std::vector<int> axes, Shape slice_size)
      : UnaryPrimitive(stream), axes_(std::move(axes)), slice_size_(std::move(slice_size)) {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_ACCUMULATE_VJP()
  DEFINE_VMAP()
  DEFINE_NAME(DynamicSlice)
  DEFINE_STATE(DynamicSlice, axes_, slice_size_)
  DEFINE_OUTPUT_SHAPES()

 private:
  std::vector<int> axes_;
  Shape slice_size_;
};

// inputs: array, update, start.
class DynamicSliceUpdate : public UnaryPrimitive {
 public:
  explicit DynamicSliceUpdate(Stream stream, std::vector<int> axes)
      : UnaryPrimitive(stream), axes_(std::move(axes)) {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(DynamicSliceUpdate)
  DEFINE_STATE(DynamicSliceUpdate, axes_)
  DEFINE_INPUT_OUTPUT_SHAPE()

 private:
  std::vector<int> axes_;
};

}  // namespace mlx::core
