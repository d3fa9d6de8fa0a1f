// Elementwise functions of two arrays of one shape (after broadcasting) and one type.
#pragma once

#include "mlx/primitives/elementwise.h"

namespace mlx::core {

// Primitives without parameters.
#define MLX_BINARY(Class, ...) ELEMENTWISE_PRIMITIVE(Class)
#define MLX_BINARY_VARIANT(...)
#include "mlx/primitives/elementwise.def"

class Equal : public Elementwise {
 public:
  // With `equal_nan`, NaN equals NaN.
  explicit Equal(Stream stream, bool equal_nan = false)
      : Elementwise(stream), equal_nan_(equal_nan) {}
  DEFINE_ELEMENTWISE(Equal)
  const char* functor() const override { return equal_nan_ ? "NanEqual" : "Equal"; }
  DEFINE_STATE(Equal, equal_nan_)

 private:
  bool equal_nan_;
};

// For integers and bool.
class BitwiseBinary : public Elementwise {
 public:
  enum Op { And, Or, Xor, LeftShift, RightShift };
  explicit BitwiseBinary(Stream stream, Op op) : Elementwise(stream), op_(op) {}
  DEFINE_ELEMENTWISE_OPERATION()
  const char* name() const override;
  DEFINE_STATE(BitwiseBinary, op_)

 private:
  Op op_;
};

// Two outputs of the inputs' type: the quotient, rounded towards minus infinity, and the remainder.
class DivMod : public Primitive {
 public:
  explicit DivMod(Stream stream) : Primitive(stream) {}
  DEFINE_EVAL_MULTI()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(DivMod)
  DEFINE_DEFAULT_IS_EQUIVALENT()
  std::vector<Shape> output_shapes(const std::vector<array>& inputs) override {
    return {inputs[0].shape(), inputs[0].shape()};
  }
};

}  // namespace mlx::core
