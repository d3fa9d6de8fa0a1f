#include "metal/cuda/driver/convolutions.h"

#include <mutex>
#include <vector>

#include "metal/cuda/driver/cudnn.h"
#include "metal/cuda/driver/library_search.h"

namespace metal::cuda {
namespace {

constexpr size_t kMostWorkspaceBytes = size_t{1} << 30;

CudnnType type_in_cudnn(MatrixType type) {
  switch (type) {
    case MatrixType::Float16:
      return CudnnType::Float16;
    case MatrixType::Bfloat16:
      return CudnnType::Bfloat16;
    case MatrixType::Float32:
    case MatrixType::Complex64:
      break;
  }
  return CudnnType::Float32;
}

// The extents of an array as the library takes them: channels come before the axes.
std::vector<int> extents(int first, int channels, const Convolution& convolution,
                         int Convolution::Axis::* extent) {
  std::vector<int> dims{first, channels};
  for (const auto& axis : convolution.axes) dims.push_back(axis.*extent);
  return dims;
}

class CudnnPlan : public ConvolutionPlan {
 public:
  CudnnPlan(const CudnnApi& api, const Convolution& convolution)
      : api_(api), result_(convolution.result) {
    const std::lock_guard lock(api_.mutex);
    check(api_.cudnnCreateTensorDescriptor(&input_));
    check(api_.cudnnCreateTensorDescriptor(&output_));
    check(api_.cudnnCreateFilterDescriptor(&weight_));
    check(api_.cudnnCreateConvolutionDescriptor(&convolution_));
  }
  ~CudnnPlan() override {
    if (input_) api_.cudnnDestroyTensorDescriptor(input_);
    if (output_) api_.cudnnDestroyTensorDescriptor(output_);
    if (weight_) api_.cudnnDestroyFilterDescriptor(weight_);
    if (convolution_) api_.cudnnDestroyConvolutionDescriptor(convolution_);
  }
  CudnnPlan(const CudnnPlan&) = delete;
  CudnnPlan& operator=(const CudnnPlan&) = delete;

  // Whether the library has an algorithm for the convolution.
  bool plan(const Convolution& convolution) {
    const std::lock_guard lock(api_.mutex);
    return describe(convolution) && choose();
  }

  size_t workspace_bytes() const override {
    return choice_.workspace_bytes ? choice_.workspace_bytes + kWorkspaceAlignment : 0;
  }
  void start(void* queue, void* const* buffers) const override;

 private:
  void check(CudnnStatus status) const { api_.check(status, "describe a convolution"); }
  bool describe(const Convolution& convolution);
  bool choose();

  const CudnnApi& api_;
  const ConvolutionResult result_;
  CudnnTensor input_ = nullptr, output_ = nullptr;
  CudnnFilter weight_ = nullptr;
  CudnnConvolution convolution_ = nullptr;
  CudnnAlgorithm choice_{};
};

// Whether the library takes such arrays.
bool CudnnPlan::describe(const Convolution& c) {
  const CudnnType type = type_in_cudnn(c.type);
  const auto is_done = [](CudnnStatus status) { return status == CudnnStatus::Success; };
  const auto describe_tensor = [&](CudnnTensor tensor, const std::vector<int>& dims) {
    return is_done(api_.cudnnSetTensorNdDescriptorEx(tensor, kCudnnChannelsLast, type,
                                                     static_cast<int>(dims.size()), dims.data()));
  };
  const auto weight = extents(c.groups * c.outputs, c.inputs, c, &Convolution::Axis::weight);
  std::vector<int> padding, stride, dilation;
  for (const auto& axis : c.axes) {
    padding.push_back(axis.padding);
    stride.push_back(axis.stride);
    dilation.push_back(axis.dilation);
  }
  return describe_tensor(input_,
                         extents(c.images, c.groups * c.inputs, c, &Convolution::Axis::input)) &&
         describe_tensor(output_,
                         extents(c.images, c.groups * c.outputs, c, &Convolution::Axis::output)) &&
         is_done(api_.cudnnSetFilterNdDescriptor(weight_, type, kCudnnChannelsLast,
                                                 static_cast<int>(weight.size()), weight.data())) &&
         is_done(api_.cudnnSetConvolutionNdDescriptor(
             convolution_, static_cast<int>(c.axes.size()), padding.data(), stride.data(),
             dilation.data(), kCudnnCrossCorrelation, CudnnType::Float32)) &&
         is_done(api_.cudnnSetConvolutionGroupCount(convolution_, c.groups)) &&
         is_done(api_.cudnnSetConvolutionMathType(
             convolution_, c.type == MatrixType::Float32 ? kCudnnFmaMath : kCudnnTensorMath));
}

// The library's first choice among the algorithms that always give the same sums.
bool CudnnPlan::choose() {
  constexpr int kMost = 16;
  CudnnAlgorithm found[kMost];
  int count = 0;
  const auto call = [&](auto function, const void* first, const void* second, const void* result) {
    return function(api_.handle, first, second, convolution_, result, kMost, &count, found);
  };
  CudnnStatus status = CudnnStatus::Success;
  switch (result_) {
    case ConvolutionResult::Output:
      status = call(api_.cudnnGetConvolutionForwardAlgorithm_v7, input_, weight_, output_);
      break;
    case ConvolutionResult::Input:
      status = call(api_.cudnnGetConvolutionBackwardDataAlgorithm_v7, weight_, output_, input_);
      break;
    case ConvolutionResult::Weight:
      status = call(api_.cudnnGetConvolutionBackwardFilterAlgorithm_v7, input_, output_, weight_);
      break;
  }
  if (status != CudnnStatus::Success) return false;
  for (const CudnnAlgorithm& algorithm : std::vector(found, found + count)) {
    if (algorithm.status != CudnnStatus::Success || algorithm.determinism != kCudnnDeterministic ||
        algorithm.workspace_bytes > kMostWorkspaceBytes) {
      continue;
    }
    choice_ = algorithm;
    return api_.cudnnSetConvolutionMathType(convolution_, choice_.math) == CudnnStatus::Success;
  }
  return false;
}

void CudnnPlan::start(void* queue, void* const* buffers) const {
  const std::lock_guard lock(api_.mutex);
  api_.check(api_.cudnnSetStream(api_.handle, queue), "use a stream");
  const float one = 1, zero = 0;
  void *input = buffers[0], *weight = buffers[1], *output = buffers[2];
  void* workspace = choice_.workspace_bytes ? aligned_workspace(buffers[3]) : nullptr;
  const auto call = [&](auto function, const void* first, const void* first_data,
                        const void* second, const void* second_data, const void* result,
                        void* result_data) {
    api_.check(
        function(api_.handle, &one, first, first_data, second, second_data, convolution_,
                 choice_.algorithm, workspace, choice_.workspace_bytes, &zero, result, result_data),
        "compute a convolution");
  };
  switch (result_) {
    case ConvolutionResult::Output:
      return call(api_.cudnnConvolutionForward, input_, input, weight_, weight, output_, output);
    case ConvolutionResult::Input:
      return call(api_.cudnnConvolutionBackwardData, weight_, weight, output_, output, input_,
                  input);
    case ConvolutionResult::Weight:
      return call(api_.cudnnConvolutionBackwardFilter, input_, input, output_, output, weight_,
                  weight);
  }
}

}  // namespace

std::shared_ptr<const ConvolutionPlan> plan_with_cudnn(const Gpu& gpu,
                                                       const Convolution& convolution) {
  const CudnnApi* api = cudnn_api(gpu);
  if (!api || convolution.type == MatrixType::Complex64) return nullptr;
  auto plan = std::make_shared<CudnnPlan>(*api, convolution);
  return plan->plan(convolution) ? plan : nullptr;
}

}  // namespace metal::cuda
