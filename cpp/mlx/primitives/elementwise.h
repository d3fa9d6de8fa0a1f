// Primitives whose output elements depend only on the inputs' elements at the same index.
#pragma once

#include "mlx/primitives/primitive.h"

namespace mlx::core {

// Derives jvp, vjp and vmap from two functions: the operation itself and its partial derivatives.
// Inputs have one shape.
class Elementwise : public UnaryPrimitive {
 public:
  using UnaryPrimitive::UnaryPrimitive;
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_OUTPUT_SHAPES()
  DEFINE_DEFAULT_IS_EQUIVALENT()

  // The functor in backend/metal/kernels that computes an element; null if there is none.
  virtual const char* functor() const { return name(); }
  // Applies the operation to other arrays, on the primitive's stream.
  virtual array apply(const std::vector<array>& inputs) const = 0;
  // `t` times the derivative with respect to input `arg`. `out` is the output for `inputs`. For
  // functions that are analytic with real coefficients, vjp passes conjugates of complex inputs.
  virtual array partial(int arg, const std::vector<array>& inputs, const array& out,
                        const array& t) const = 0;
};

#define DEFINE_ELEMENTWISE_OPERATION()                                                       \
  DEFINE_EVAL()                                                                              \
  array apply(const std::vector<array>& inputs) const override;                              \
  array partial(int arg, const std::vector<array>& inputs, const array& out, const array& t) \
      const override;

#define DEFINE_ELEMENTWISE(PRIMITIVE) \
  DEFINE_ELEMENTWISE_OPERATION()      \
  DEFINE_NAME(PRIMITIVE)

#define ELEMENTWISE_PRIMITIVE(PRIMITIVE) \
  class PRIMITIVE : public Elementwise { \
   public:                               \
    using Elementwise::Elementwise;      \
    DEFINE_ELEMENTWISE(PRIMITIVE)        \
  };

}  // namespace mlx::core
