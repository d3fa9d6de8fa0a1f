// Quantised arrays: conversions, and products with quantised matrices.
#pragma once

#include "mlx/primitives/primitive.h"
#include "mlx/primitives/quantization.h"

namespace mlx::core {

// inputs: w (..., K) of floats, and optionally a global scale.
// outputs: packed elements (..., words), scales and, in affine mode, biases (..., K / group size).
class Quantize : public Primitive {
 public:
  Quantize(Stream stream, Quantization quantization)
      : Primitive(stream), quantization_(quantization) {}
  DEFINE_EVAL_MULTI()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(Quantize)
  DEFINE_STATE(Quantize, quantization_)
  DEFINE_OUTPUT_SHAPES()

 private:
  Quantization quantization_;
};

// inputs: packed elements, scales, then biases (affine mode) or optionally a global scale.
class Dequantize : public UnaryPrimitive {
 public:
  Dequantize(Stream stream, Quantization quantization, Dtype dtype)
      : UnaryPrimitive(stream), quantization_(quantization), dtype_(dtype) {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(Dequantize)
  DEFINE_STATE(Dequantize, quantization_, dtype_.val())
  DEFINE_OUTPUT_SHAPES()

 private:
  array apply(const std::vector<array>& inputs) const;

  Quantization quantization_;
  Dtype dtype_;
};

// inputs: x (..., K) and a quantised matrix: w, scales and, in affine mode, biases.
// x @ w.T, or x @ w unless `transpose`.
class QuantizedMatmul : public UnaryPrimitive {
 public:
  QuantizedMatmul(Stream stream, Quantization quantization, bool transpose)
      : UnaryPrimitive(stream), quantization_(quantization), transpose_(transpose) {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(QuantizedMatmul)
  DEFINE_STATE(QuantizedMatmul, quantization_, transpose_)
  DEFINE_OUTPUT_SHAPES()

 private:
  Quantization quantization_;
  bool transpose_;
};

// inputs: x (batch, M, K), quantised matrices (batch, ...) as above, and two index arrays of one
// shape, which choose a matrix of each for each product.
class GatherQMM : public UnaryPrimitive {
 public:
  GatherQMM(Stream stream, Quantization quantization, bool transpose)
      : UnaryPrimitive(stream), quantization_(quantization), transpose_(transpose) {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(GatherQMM)
  DEFINE_STATE(GatherQMM, quantization_, transpose_)
  DEFINE_OUTPUT_SHAPES()

 private:
  Quantization quantization_;
  bool transpose_;
};

// Converts floats to bytes with 8-bit floats (E4M3), or the inverse.
class ConvertFP8 : public UnaryPrimitive {
 public:
  ConvertFP8(Stream stream, bool to_fp8, Dtype dtype)
      : UnaryPrimitive(stream), to_fp8_(to_fp8), dtype_(dtype) {}
  DEFINE_EVAL()
  DEFINE_VMAP()
  DEFINE_NAME(ConvertFP8)
  DEFINE_STATE(ConvertFP8, to_fp8_, dtype_.val())
  DEFINE_INPUT_OUTPUT_SHAPE()

 private:
  bool to_fp8_;
  Dtype dtype_;
};

}  // namespace mlx::core
