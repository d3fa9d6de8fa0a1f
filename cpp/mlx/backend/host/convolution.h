// What a convolution has to compute, as its evaluations on the host take it.
#pragma once

#include <vector>

#include "mlx/array.h"
#include "mlx/primitives/convolution.h"

namespace mlx::core::cpu {

// A spatial axis: element k of the kernel for element o of the output meets element
// o * stride - low + k * dilation of the input.
struct ConvolutionAxis {
  int input, kernel, output;
  int stride, dilation, low;

  // Elements of the input that the ends of a kernel span, less one.
  int reach() const { return (kernel - 1) * dilation; }
  // The zeros at the high end, negative if the last elements of the input meet no kernel.
  int high() const { return (output - 1) * stride + reach() + 1 - low - input; }
};

struct ConvolutionGeometry {
  int images;
  int groups;
  int inputs, outputs;  // channels of each group
  std::vector<ConvolutionAxis> axes;

  ConvolutionGeometry(const Shape& input, const Shape& weight, const Shape& output,
                      const ConvolutionWindow& window);

  // Elements of an image.
  size_t input_size() const;
  size_t output_size() const;
  double multiplications() const;
};

// Row-contiguous arrays of float64, of which `part` is computed.
void convolve_float64(ConvolutionPart part, const ConvolutionGeometry& geometry, double* input,
                      double* weight, double* output);

}  // namespace mlx::core::cpu
