// Scaled dot-product attention of many queries, as one kernel.
#pragma once

#include "mlx/primitives/primitive.h"

namespace mlx::core {

// The same from operations on a part of the scores at a time.
array attention_by_scores(const array& q, const array& k, const array& v, float scale, bool causal,
                          const Stream& s);

// inputs: q (B, N, T, D), k (B, M, S, D) and v (B, M, S, D) of float16 or bfloat16, where N is a
// multiple of M, S is not 0 and D is 64 or 128. With `causal`, query i sees the keys up to
// i + S - T, and S is at least T.
class Attention : public UnaryPrimitive {
 public:
  explicit Attention(Stream stream, float scale, bool causal)
      : UnaryPrimitive(stream), scale_(scale), causal_(causal) {}
  // Whether the stream's device has a kernel for these inputs that is faster than
  // attention_by_scores.
  static bool has_kernel(const std::vector<array>& inputs, bool causal, const Stream& s);
  // How many queries attention_by_scores computes at a time, so that only their scores are in
  // memory at once. `bytes`: of the scores of one query in each head.
  static int queries_at_once(size_t bytes, const Stream& s);
  // Whether these can be inputs.
  static bool fits(const std::vector<array>& inputs, bool causal);
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(Attention)
  DEFINE_STATE(Attention, scale_, causal_)
  DEFINE_INPUT_OUTPUT_SHAPE()

 private:
  std::vector<array> compute(const std::vector<array>& inputs) const;

  float scale_;
  bool causal_;
};

}  // namespace mlx::core
