#include "metal/cuda/driver/convolutions.h"

#include <initializer_list>
#include <mutex>
#include <stdexcept>

#include "metal/cuda/driver/cudnn.h"
#include "metal/cuda/driver/cudnn_graph.h"

namespace metal::cuda {
namespace {

using Dims = CudnnGraph::Dims;

// One number of each axis, after those that come first.
Dims along_axes(const Convolution& convolution, int Convolution::Axis::* number,
                std::initializer_list<int64_t> first = {}) {
  Dims made(first);
  for (const auto& axis : convolution.axes) made.push_back(axis.*number);
  return made;
}

// Where channels, the second dimension, come last in memory.
Dims strides_with_channels_last(const Dims& dims) {
  Dims strides(dims.size(), 1);
  int64_t step = dims[1];
  for (size_t i = dims.size(); i-- > 2; step *= dims[i]) strides[i] = step;
  strides[0] = step;
  return strides;
}

// Sums are the same each time and of float32's precision, and no one waits for a compiler.
CudnnRefused refused_engines(MatrixType type) {
  CudnnRefused refused{
      .notes = {CudnnNote::RoundsInputs, CudnnNote::RoundsSums, CudnnNote::OrderOfSumsVaries},
      .behaviors = {CudnnBehavior::CompilesAtRunTime}};
  if (type == MatrixType::Float32) refused.notes.push_back(CudnnNote::MatrixInstructions);
  return refused;
}

class CudnnConvolutionPlan : public ConvolutionPlan {
 public:
  CudnnConvolutionPlan(const CudnnApi& api, const Convolution& c) : graph_(api) {
    using Axis = Convolution::Axis;
    const auto array = [&](int64_t first, int64_t channels, int Axis::* extent) {
      const Dims dims = along_axes(c, extent, {first, channels});
      return graph_.array(type_in_cudnn(c.type), dims, strides_with_channels_last(dims));
    };
    const int64_t groups = c.groups;
    const CudnnGraph::Arrays arrays{array(c.images, groups * c.inputs, &Axis::input),
                                    array(groups * c.outputs, c.inputs, &Axis::weight),
                                    array(c.images, groups * c.outputs, &Axis::output)};
    graph_.convolve(c.result, arrays,
                    {along_axes(c, &Axis::padding), along_axes(c, &Axis::stride),
                     along_axes(c, &Axis::dilation)});
    graph_.plan(refused_engines(c.type));
  }

  size_t workspace_bytes() const override { return graph_.workspace_bytes(); }
  void start(void* queue, void* const* buffers) const override { graph_.run(queue, buffers); }

 private:
  CudnnGraph graph_;
};

}  // namespace

std::shared_ptr<const ConvolutionPlan> plan_with_cudnn(const Gpu& gpu,
                                                       const Convolution& convolution) {
  const CudnnApi* api = cudnn_api(gpu);
  if (!api || convolution.type == MatrixType::Complex64) return nullptr;
  const std::lock_guard lock(api->mutex);
  try {
    return std::make_shared<CudnnConvolutionPlan>(*api, convolution);
  } catch (const std::runtime_error&) {
    return nullptr;  // The library does not have a kernel for it.
  }
}

}  // namespace metal::cuda
