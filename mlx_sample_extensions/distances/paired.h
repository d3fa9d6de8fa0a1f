// The primitive of distances of listed pairs, and that of its gradient in one side's points.
#pragma once

#include "distances/primitives.h"

namespace mlx_sample {

// Points and the pairs between them: point i[t] of a (N, D) and point j[t] of b (M, D), for every
// t. a and b have one floating type, i and j are (T,) int32.
struct Pairing {
  mx::array a;
  mx::array b;
  mx::array i;
  mx::array j;

  Pairing swapped() const { return {b, a, j, i}; }
};

// Distances (T,) in the points' type, computed in float32.
mx::array paired(const Pairing& pairs, Metric metric, mx::Stream s);
// The same with array operations, which make arrays of (T, D).
mx::array composed_distances(const Pairing& pairs, Metric metric, mx::Stream s);
// The gradient in a of sum(g * d), where d = paired(pairs).
mx::array paired_gradient(const Pairing& pairs, const mx::array& d, const mx::array& g,
                          Metric metric, mx::Stream s);

// Normalises vectors to length 1; zero vectors stay zero, with gradient 0.
mx::array normalized(const mx::array& x, mx::Stream s);

#define MLX_SAMPLE_PAIRED_RULES(Class)                                                         \
  void eval_cpu(const Arrays& inputs, Arrays& outputs) override;                               \
  void eval_gpu(const Arrays& inputs, Arrays& outputs) override;                               \
  bool encodes() const override { return true; }                                               \
  Arrays jvp(const Arrays& primals, const Arrays& tangents, const std::vector<int>& argnums)   \
      override;                                                                                \
  Arrays vjp(const Arrays& primals, const Arrays& cotangents, const std::vector<int>& argnums, \
             const Arrays& outputs) override;                                                  \
  std::pair<Arrays, std::vector<int>> vmap(const Arrays& inputs, const std::vector<int>& axes) \
      override;                                                                                \
  const char* name() const override { return #Class; }                                         \
  bool is_equivalent(const mx::Primitive& other) const override {                              \
    return metric_ == static_cast<const Class&>(other).metric_;                                \
  }

// (a, b, i, j)
class PairedDistance : public mx::Primitive {
 public:
  PairedDistance(mx::Stream stream, Metric metric) : mx::Primitive(stream), metric_(metric) {}
  MLX_SAMPLE_PAIRED_RULES(PairedDistance)
  std::vector<mx::Shape> output_shapes(const Arrays& inputs) override {
    return {inputs[2].shape()};
  }

 private:
  Metric metric_;
};

// (a, b, i, j, g, and values computed from them: d, the pairs sorted by their point of a with its
// offsets, and for the cosine the lengths of a and b as vectors).
class PairedGradient : public mx::Primitive {
 public:
  PairedGradient(mx::Stream stream, Metric metric) : mx::Primitive(stream), metric_(metric) {}
  MLX_SAMPLE_PAIRED_RULES(PairedGradient)
  std::vector<mx::Shape> output_shapes(const Arrays& inputs) override {
    return {inputs[0].shape()};
  }

 private:
  // The same with operations that can be differentiated again, as a function of (a, b, g).
  Arrays composed(const Arrays& inputs, const mx::array& i, const mx::array& j) const;

  Metric metric_;
};

#undef MLX_SAMPLE_PAIRED_RULES

}  // namespace mlx_sample
