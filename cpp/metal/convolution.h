// Convolutions that a library of the device computes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "metal/matrix_product.h"

namespace metal {

enum class ConvolutionResult { Output, Input, Weight };

// The arrays are an input (images, extents..., channels), a weight (channels of the output,
// extents..., channels of the input in a group) and an output, without gaps. Given two of them, the
// third is computed: the output itself, or the cotangent of one of the others. Sums of 16-bit
// floats are float32.
struct Convolution {
  // Output element o multiplies weight element k with input element o * stride - padding + k *
  // dilation; both ends of the input are padded with zeros.
  struct Axis {
    int input = 1, weight = 1, output = 1;
    int stride = 1, dilation = 1, padding = 0;
  };

  ConvolutionResult result = ConvolutionResult::Output;
  MatrixType type = MatrixType::Float32;  // not complex
  int images = 1, groups = 1;
  int inputs = 1, outputs = 1;  // channels of each group
  std::vector<Axis> axes;       // two or three
};

// How a library computes one kind of convolution.
class ConvolutionPlan {
 public:
  virtual ~ConvolutionPlan() = default;

  virtual size_t workspace_bytes() const = 0;
  // The work of a LibraryCall. Its buffers are the input, the weight, the output, and workspace of
  // that size.
  virtual void start(void* queue, void* const* buffers) const = 0;
};

}  // namespace metal
