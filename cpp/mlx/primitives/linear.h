// Matrix products and decompositions, over the last two axes.
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

// Singular value decomposition of (..., M, N), float32 or float64. Outputs: U (..., M, M), S (...,
// min(M, N)), Vt (..., N, N); only S if not compute_uv.
class SVD : public Primitive {
 public:
  explicit SVD(Stream stream, bool compute_uv) : Primitive(stream), compute_uv_(compute_uv) {}
  DEFINE_EVAL_MULTI()
  DEFINE_VMAP()
  DEFINE_NAME(SVD)
  DEFINE_STATE(SVD, compute_uv_)
  DEFINE_OUTPUT_SHAPES()

 private:
  bool compute_uv_;
};

}  // namespace mlx::core
