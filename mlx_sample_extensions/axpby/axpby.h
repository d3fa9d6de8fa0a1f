// axpby: z = alpha * x + beta * y as one operation, with its own kernel and rules.
#pragma once

#include "mlx/ops.h"
#include "mlx/primitives.h"

namespace mlx_sample {

namespace mx = mlx::core;

// Broadcasts x and y as NumPy does. Integers become float32; floating and complex types stay.
mx::array axpby(const mx::array& x, const mx::array& y, float alpha, float beta,
                mx::StreamOrDevice s = {});

class Axpby : public mx::Primitive {
 public:
  Axpby(mx::Stream stream, float alpha, float beta)
      : mx::Primitive(stream), alpha_(alpha), beta_(beta) {}

  DEFINE_EVAL_MULTI()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(Axpby)
  DEFINE_STATE(Axpby, alpha_, beta_)
  DEFINE_INPUT_OUTPUT_SHAPE()
  bool encodes() const override { return true; }

 private:
  float alpha_, beta_;
};

}  // namespace mlx_sample
