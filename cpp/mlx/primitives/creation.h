// Primitives that make arrays without inputs, from a scalar or from random keys.
#pragma once

#include "mlx/primitives/primitive.h"

namespace mlx::core {

// No inputs. out[i] = start + i * step in the output's type (16-bit floats compute in float).
class Arange : public UnaryPrimitive {
 public:
  explicit Arange(Stream stream, double start, double stop, double step)
      : UnaryPrimitive(stream), start_(start), stop_(stop), step_(step) {}
  DEFINE_EVAL()
  DEFINE_NAME(Arange)
  DEFINE_STATE(Arange, start_, stop_, step_)
  DEFINE_OUTPUT_SHAPES()

 private:
  double start_;
  double stop_;
  double step_;
};

// Copies its input, which is already broadcast to the output's shape, into new memory.
class Full : public UnaryPrimitive {
 public:
  explicit Full(Stream stream) : UnaryPrimitive(stream) {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(Full)
  DEFINE_DEFAULT_IS_EQUIVALENT()
  DEFINE_INPUT_OUTPUT_SHAPE()
};

// inputs: keys, uint32 of shape (..., 2). Output: shape (...) + shape, unsigned integers of `width`
// bytes. A key's N = ceil(size * width / 4) 32-bit words come from Threefry-2x32 (20 rounds): with
// half = N / 2 rounded up, block i < half has the counter (i, half + i), or (i, 0) for the last
// block when N is odd, and gives words i and half + i; the words' bytes, little-endian, are the
// output.
class RandomBits : public UnaryPrimitive {
 public:
  explicit RandomBits(Stream stream, const Shape& shape, int width)
      : UnaryPrimitive(stream), shape_(shape), width_(width) {}
  DEFINE_EVAL()
  DEFINE_VMAP()
  DEFINE_NAME(RandomBits)
  DEFINE_STATE(RandomBits, shape_, width_)
  DEFINE_OUTPUT_SHAPES()

 private:
  Shape shape_;
  int width_;
};

}  // namespace mlx::core
