// Reductions, scans and softmax.
#pragma once

#include "mlx/primitives/primitive.h"

namespace mlx::core {

// Reduced axes are kept with length 1. Sum and Prod of bool and small integers give at least int32;
// And and Or take and give bool; Min and Max keep the type and propagate NaN. Mean takes and gives
// floats or complex64. Empty reductions give the neutral element, and a mean of nothing NaN.
class Reduce : public UnaryPrimitive {
 public:
  enum ReduceType { And, Or, Sum, Prod, Min, Max, Mean };
  explicit Reduce(Stream stream, ReduceType reduce_type, const std::vector<int>& axes)
      : UnaryPrimitive(stream), reduce_type_(reduce_type), axes_(axes) {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  const char* name() const override;
  DEFINE_STATE(Reduce, reduce_type_, axes_)
  DEFINE_OUTPUT_SHAPES()

 private:
  ReduceType reduce_type_;
  std::vector<int> axes_;
};

// Of floats of at most 32 bits: the sum of the squares of their distances from their mean, divided
// by their number less `ddof`, or by 0 if that is negative. Reduced axes are kept with length 1.
class Variance : public UnaryPrimitive {
 public:
  explicit Variance(Stream stream, const std::vector<int>& axes, int ddof)
      : UnaryPrimitive(stream), axes_(axes), ddof_(ddof) {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(Variance)
  DEFINE_STATE(Variance, axes_, ddof_)
  DEFINE_OUTPUT_SHAPES()

 private:
  std::vector<int> axes_;
  int ddof_;
};

// Gives uint32 indices of the first minimum or maximum; the axis is kept with length 1.
class ArgReduce : public UnaryPrimitive {
 public:
  enum ReduceType { ArgMin, ArgMax };
  explicit ArgReduce(Stream stream, ReduceType reduce_type, int axis)
      : UnaryPrimitive(stream), reduce_type_(reduce_type), axis_(axis) {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  const char* name() const override;
  DEFINE_STATE(ArgReduce, reduce_type_, axis_)
  DEFINE_OUTPUT_SHAPES()

 private:
  ReduceType reduce_type_;
  int axis_;
};

// Running reduction along an axis. Exclusive scans start with the neutral element.
class Scan : public UnaryPrimitive {
 public:
  enum ReduceType { Max, Min, Sum, Prod, LogAddExp };
  explicit Scan(Stream stream, ReduceType reduce_type, int axis, bool reverse, bool inclusive)
      : UnaryPrimitive(stream),
        reduce_type_(reduce_type),
        axis_(axis),
        reverse_(reverse),
        inclusive_(inclusive) {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  const char* name() const override;
  DEFINE_STATE(Scan, reduce_type_, axis_, reverse_, inclusive_)
  DEFINE_INPUT_OUTPUT_SHAPE()

 private:
  ReduceType reduce_type_;
  int axis_;
  bool reverse_;
  bool inclusive_;
};

// Over the last axis. `precise`: accumulate 16-bit floats in float, which implementations may do
// always.
class Softmax : public UnaryPrimitive {
 public:
  explicit Softmax(Stream stream, bool precise) : UnaryPrimitive(stream), precise_(precise) {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(Softmax)
  DEFINE_STATE(Softmax, precise_)
  DEFINE_INPUT_OUTPUT_SHAPE()

 private:
  bool precise_;
};

// Over the last axis, which is kept with length 1.
class LogSumExp : public UnaryPrimitive {
 public:
  explicit LogSumExp(Stream stream) : UnaryPrimitive(stream) {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(LogSumExp)
  DEFINE_DEFAULT_IS_EQUIVALENT()
  DEFINE_OUTPUT_SHAPES()
};

}  // namespace mlx::core
