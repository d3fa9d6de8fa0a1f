// Normalisation of rows, which lie along the last axis, as one kernel.
#pragma once

#include "mlx/primitives/primitive.h"

namespace mlx::core {

// The parameters of both primitives.
struct Normalization {
  bool centered;  // layer normalisation; else RMS normalisation
  float eps;

  bool operator==(const Normalization&) const = default;
  // Computes it from other operations, for rows, weight and bias.
  array compute(const array& x, const array& weight, const array& bias, const Stream& s) const;
};

// inputs: rows of any floating type but float64; weight and bias, vectors of float32. RMS
// normalisation ignores the bias.
class Normalize : public UnaryPrimitive {
 public:
  explicit Normalize(Stream stream, bool centered, float eps)
      : UnaryPrimitive(stream), kind_{centered, eps} {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  const char* name() const override { return kind_.centered ? "LayerNorm" : "RMSNorm"; }
  DEFINE_STATE(Normalize, kind_.centered, kind_.eps)
  DEFINE_INPUT_OUTPUT_SHAPE()

 private:
  Normalization kind_;
};

// inputs: rows, weight, cotangent of the output. Outputs: the cotangent of the rows, and lines (n,
// length) whose sum is the cotangent of the weight.
class NormalizeVJP : public Primitive {
 public:
  explicit NormalizeVJP(Stream stream, bool centered, float eps)
      : Primitive(stream), kind_{centered, eps} {}
  DEFINE_EVAL_MULTI()
  DEFINE_GRADS()
  DEFINE_VMAP()
  const char* name() const override { return kind_.centered ? "LayerNormVJP" : "RMSNormVJP"; }
  DEFINE_STATE(NormalizeVJP, kind_.centered, kind_.eps)
  DEFINE_OUTPUT_SHAPES()

 private:
  std::vector<array> compute(const std::vector<array>& inputs) const;

  Normalization kind_;
};

}  // namespace mlx::core
