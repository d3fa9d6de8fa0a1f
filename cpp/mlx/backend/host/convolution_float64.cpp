// Convolutions of float64, which oneDNN lacks.
#include <algorithm>

#include "mlx/backend/host/convolution.h"
#include "mlx/backend/host/parallel.h"

namespace mlx::core::cpu {

namespace {

// Calls visit(o, k, i) for all combinations of an output, a kernel and an input element that a
// convolution multiplies, with their row-major indices.
template <typename Visit>
void for_each_meeting(const std::vector<ConvolutionAxis>& axes, size_t first, size_t o, size_t k,
                      size_t i, Visit&& visit) {
  if (first == axes.size()) return visit(o, k, i);
  const auto& axis = axes[first];
  for (int at = 0; at < axis.output; ++at) {
    for (int element = 0; element < axis.kernel; ++element) {
      const int meets = at * axis.stride - axis.low + element * axis.dilation;
      if (meets < 0 || meets >= axis.input) continue;
      for_each_meeting(axes, first + 1, o * axis.output + at, k * axis.kernel + element,
                       i * axis.input + meets, visit);
    }
  }
}

// The arrays of one group of one image, and the distances between their pixels.
struct GroupOfImage {
  double *input, *weight, *output;
  size_t input_step, output_step, kernel;  // kernel: elements
  size_t inputs;
};

// Output channel c of the group.
void accumulate(ConvolutionPart part, const ConvolutionGeometry& geometry, const GroupOfImage& g,
                size_t c) {
  for_each_meeting(geometry.axes, 0, 0, 0, 0, [&](size_t o, size_t k, size_t i) {
    double* in = g.input + i * g.input_step;
    double* weight = g.weight + (c * g.kernel + k) * g.inputs;
    double& out = g.output[o * g.output_step + c];
    switch (part) {
      case ConvolutionPart::Input:
        for (size_t j = 0; j < g.inputs; ++j) in[j] += weight[j] * out;
        break;
      case ConvolutionPart::Weight:
        for (size_t j = 0; j < g.inputs; ++j) weight[j] += in[j] * out;
        break;
      case ConvolutionPart::Output:
        for (size_t j = 0; j < g.inputs; ++j) out += in[j] * weight[j];
        break;
    }
  });
}

}  // namespace

void convolve_float64(ConvolutionPart part, const ConvolutionGeometry& geometry, double* input,
                      double* weight, double* output) {
  const auto inputs = static_cast<size_t>(geometry.inputs);
  const auto outputs = static_cast<size_t>(geometry.outputs);
  const auto groups = static_cast<size_t>(geometry.groups);
  size_t kernel = 1;
  for (const auto& axis : geometry.axes) kernel *= static_cast<size_t>(axis.kernel);
  const size_t weight_size = groups * outputs * kernel * inputs;
  const auto images = static_cast<size_t>(geometry.images);

  auto group_of = [&](size_t image, size_t group) {
    return GroupOfImage{input + image * geometry.input_size() + group * inputs,
                        weight + group * outputs * kernel * inputs,
                        output + image * geometry.output_size() + group * outputs,
                        groups * inputs,
                        groups * outputs,
                        kernel,
                        inputs};
  };
  if (part == ConvolutionPart::Weight) {
    std::fill_n(weight, weight_size, 0.0);
    return parallel_for(groups * outputs, 1, [&](size_t first, size_t last) {
      for (size_t c = first; c < last; ++c)
        for (size_t image = 0; image < images; ++image)
          accumulate(part, geometry, group_of(image, c / outputs), c % outputs);
    });
  }
  const bool forward = part == ConvolutionPart::Output;
  std::fill_n(forward ? output : input,
              images * (forward ? geometry.output_size() : geometry.input_size()), 0.0);
  parallel_for(images * groups, 1, [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i)
      for (size_t c = 0; c < outputs; ++c)
        accumulate(part, geometry, group_of(i / groups, i % groups), c);
  });
}

}  // namespace mlx::core::cpu
