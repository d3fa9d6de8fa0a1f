// Convolutions, and the two products in their derivatives.
#pragma once

#include "mlx/primitives/primitive.h"

namespace mlx::core {

// The arrays of a convolution: Input (N, spatial..., C), Weight (O, spatial..., C / groups), Output
// (N, spatial..., O).
enum class ConvolutionPart { Input, Weight, Output };

// The position of kernels on the input, for each spatial axis: output element o multiplies kernel
// element k with input element o * stride - low + k * dilation. There are `low` and `high` zeros at
// the input's ends; a kernel that does not fit is omitted.
struct ConvolutionWindow {
  std::vector<int> stride, low, high, dilation;
  int groups;

  bool operator==(const ConvolutionWindow&) const = default;
};

// The sum of all products input * weight * output is linear in each of the three arrays. Given two
// of them, this primitive computes the factors of the third: the convolution itself (part Output),
// the cotangent of the input (part Input, a transposed convolution) or that of the weights (part
// Weight). inputs: the other two parts in order, of one floating type. low is never negative.
class Convolution : public UnaryPrimitive {
 public:
  Convolution(Stream stream, ConvolutionPart part, ConvolutionWindow window)
      : UnaryPrimitive(stream), part_(part), window_(std::move(window)) {}
  // Makes the node, or zeros if a factor is empty.
  static array make(ConvolutionPart part, const array& first, const array& second,
                    const ConvolutionWindow& window, const Stream& s);
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(Convolution)
  DEFINE_STATE(Convolution, part_, window_)
  DEFINE_OUTPUT_SHAPES()

 private:
  ConvolutionPart part_;
  ConvolutionWindow window_;
};

}  // namespace mlx::core
