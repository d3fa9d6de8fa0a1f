// Matrix products, over the last two axes.
#pragma once

#include "mlx/primitives/primitive.h"

namespace mlx::core {

// inputs: a (..., M, K), b (..., K, N) with equal batch axes and one floating type (or complex64).
class Matmul : public UnaryPrimitive {
 public:
  explicit Matmul(Stream stream) : UnaryPrimitive(stream) {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(Matmul)
  DEFINE_DEFAULT_IS_EQUIVALENT()
  DEFINE_OUTPUT_SHAPES()
};

// inputs: a, b, c (broadcast to the output's shape). alpha * a @ b + beta * c
class AddMM : public UnaryPrimitive {
 public:
  explicit AddMM(Stream stream, float alpha, float beta)
      : UnaryPrimitive(stream), alpha_(alpha), beta_(beta) {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(AddMM)
  DEFINE_STATE(AddMM, alpha_, beta_)
  DEFINE_OUTPUT_SHAPES()

 private:
  float alpha_;
  float beta_;
};

}  // namespace mlx::core
