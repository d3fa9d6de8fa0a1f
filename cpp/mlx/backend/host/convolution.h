// The geometry of a convolution, as its evaluations on the host take it.
#pragma once

#include <vector>

#include "mlx/array.h"
#include "mlx/primitives/convolution.h"

namespace mlx::core::cpu {

// A spatial axis: output element o multiplies kernel element k with input element o * stride - low
// + k * dilation.
struct ConvolutionAxis {
  int input, kernel, output;
  int stride, dilation, low;

  // The extent of a dilated kernel on the input, less one.
  int reach() const { return (kernel - 1) * dilation; }
  // The zeros at the high end; negative if no kernel reaches the last elements of the input.
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

// Computes `part`; the arrays are row-contiguous, of float64.
void convolve_float64(ConvolutionPart part, const ConvolutionGeometry& geometry, double* input,
                      double* weight, double* output);

}  // namespace mlx::core::cpu
