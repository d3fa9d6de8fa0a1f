// The primitive of all pairs' distances, and that of its gradients.
#pragma once

#include "mlx/primitives.h"
#include "rules.h"

namespace mlx_sample {

namespace mx = mlx::core;

// The values are function constants of the kernels.
enum class Metric { Euclidean, SquaredEuclidean, Manhattan, Cosine };

// Distances (B, N, M) of float32 points a (B, N, D) and b (B, M, D), in the given type. Not for the
// cosine, which is a product of matrices.
mx::array pairwise(const mx::array& a, const mx::array& b, Metric metric, mx::Dtype dtype,
                   mx::Stream s);
// The gradients in a and in b of sum(g * d), where d = pairwise(a, b): those that are wanted.
Arrays pairwise_gradients(const mx::array& a, const mx::array& b, const mx::array& d,
                          const mx::array& g, Metric metric, bool by_a, bool by_b, mx::Stream s);

// The base of both: the first axis of all inputs and outputs is the batch.
class PairwisePrimitive : public mx::Primitive {
 public:
  PairwisePrimitive(mx::Stream stream, Metric metric) : mx::Primitive(stream), metric_(metric) {}
  bool encodes() const override { return true; }
  std::pair<Arrays, std::vector<int>> vmap(const Arrays& inputs,
                                           const std::vector<int>& axes) override;

 protected:
  virtual Arrays apply(const Arrays& inputs) = 0;

  Metric metric_;
};

#define MLX_SAMPLE_PAIRWISE_RULES()                                                            \
  void eval_cpu(const Arrays& inputs, Arrays& outputs) override;                               \
  void eval_gpu(const Arrays& inputs, Arrays& outputs) override;                               \
  Arrays jvp(const Arrays& primals, const Arrays& tangents, const std::vector<int>& argnums)   \
      override;                                                                                \
  Arrays vjp(const Arrays& primals, const Arrays& cotangents, const std::vector<int>& argnums, \
             const Arrays& outputs) override;                                                  \
                                                                                               \
 protected:                                                                                    \
  Arrays apply(const Arrays& inputs) override;

// (a, b)
class PairwiseDistance : public PairwisePrimitive {
 public:
  PairwiseDistance(mx::Stream stream, Metric metric, mx::Dtype dtype)
      : PairwisePrimitive(stream, metric), dtype_(dtype) {}
  const char* name() const override { return "PairwiseDistance"; }
  bool is_equivalent(const mx::Primitive& other) const override {
    auto& o = static_cast<const PairwiseDistance&>(other);
    return metric_ == o.metric_ && dtype_ == o.dtype_;
  }
  MLX_SAMPLE_PAIRWISE_RULES()

 private:
  mx::Dtype dtype_;
};

// (a, b, d, g)
class PairwiseGradient : public PairwisePrimitive {
 public:
  PairwiseGradient(mx::Stream stream, Metric metric, bool by_a, bool by_b)
      : PairwisePrimitive(stream, metric), by_a_(by_a), by_b_(by_b) {}
  const char* name() const override { return "PairwiseGradient"; }
  bool is_equivalent(const mx::Primitive& other) const override {
    auto& o = static_cast<const PairwiseGradient&>(other);
    return metric_ == o.metric_ && by_a_ == o.by_a_ && by_b_ == o.by_b_;
  }
  MLX_SAMPLE_PAIRWISE_RULES()

 private:
  // The same with operations that can be differentiated again, as a function of (a, b, d, g).
  Arrays composed(const Arrays& inputs) const;

  bool by_a_;
  bool by_b_;
};

#undef MLX_SAMPLE_PAIRWISE_RULES

}  // namespace mlx_sample
