// Convolutions, and the two products that their derivatives are.
#pragma once

#include "mlx/primitives/primitive.h"

namespace mlx::core {

// The arrays of a convolution: Input (N, spatial..., C), Weight (O, spatial..., C / groups), Output
// (N, spatial..., O).
enum class ConvolutionPart { Input, Weight, Output };

// How kernels lie on the input, for each spatial axis: element k of the kernel for element o of the
// output meets element o * stride - low + k * dilation of the input. Beyond its ends are `low` and
// `high` zeros; a kernel that does not fit is left out.
struct ConvolutionWindow {
  std::vector<int> stride, low, high, dilation;
  int groups;

  bool operator==(const ConvolutionWindow&) const = default;
};

// The sum of input * weight * output over all that meet, as a function of two of these, is linear
// in the third, with the factors: the convolution itself (part Output), and its cotangents in the
// input (part Input, a transposed convolution) and in the weights (part Weight). inputs: the other
// two parts in order, of one floating type. low is never negative.
class Convolution : public UnaryPrimitive {
 public:
  Convolution(Stream stream, ConvolutionPart part, ConvolutionWindow window)
      : UnaryPrimitive(stream), part_(part), window_(std::move(window)) {}
  // The node, or zeros if a factor is empty.
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
