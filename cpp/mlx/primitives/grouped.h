// Products of matrices chosen by indices, and of segments of matrices.
#pragma once

#include "mlx/primitives/primitive.h"

namespace mlx::core {

// inputs: a (batch, M, K), b (batch, K, N) and two index arrays of one shape, which choose a matrix
// of a and a matrix of b for each product.
class GatherMM : public UnaryPrimitive {
 public:
  explicit GatherMM(Stream stream) : UnaryPrimitive(stream) {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(GatherMM)
  DEFINE_DEFAULT_IS_EQUIVALENT()
  DEFINE_OUTPUT_SHAPES()
};

// inputs: a (M, K), b (K, N), segments (..., 2): a[:, start:end] @ b[start:end] for each.
class SegmentedMM : public UnaryPrimitive {
 public:
  explicit SegmentedMM(Stream stream) : UnaryPrimitive(stream) {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(SegmentedMM)
  DEFINE_DEFAULT_IS_EQUIVALENT()
  DEFINE_OUTPUT_SHAPES()
};

}  // namespace mlx::core
