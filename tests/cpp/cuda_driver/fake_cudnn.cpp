// A fake of NVIDIA's cuDNN: it adds up convolutions of float32 with two axes, and knows no other
// types. It offers three algorithms, of which the second one always gives the same sums.
#include "cuda_driver/fake_cudnn.h"

#include <cstring>
#include <vector>

namespace metal::cuda {

struct CudnnTensorObject {
  CudnnType type;
  int dims[4];  // images, channels, rows, columns
};
struct CudnnFilterObject : CudnnTensorObject {};
struct CudnnConvolutionObject {
  int padding[2], stride[2], dilation[2], groups = 1;
};

}  // namespace metal::cuda

namespace metal::test {
namespace {

using namespace metal::cuda;

FakeCudnn cudnn_state;

CudnnStatus describe(CudnnTensorObject& tensor, CudnnType type, int count, const int* dims) {
  constexpr auto kBadParameter = static_cast<CudnnStatus>(2000);
  if (count != 4) return kBadParameter;
  tensor.type = type;
  std::memcpy(tensor.dims, dims, sizeof(tensor.dims));
  return CudnnStatus::Success;
}

// Where an element lies, if channels come last.
size_t place_of(const CudnnTensorObject& tensor, int first, int channel, int row, int column) {
  const int* d = tensor.dims;
  return ((size_t(first) * d[2] + row) * d[3] + column) * d[1] + channel;
}

CudnnStatus choose(const void* described, int* count, CudnnAlgorithm* found) {
  const auto type = static_cast<const CudnnTensorObject*>(described)->type;
  const CudnnStatus status = type == CudnnType::Float32 ? CudnnStatus::Success : CudnnStatus(3000);
  for (int i = 0; i < 3; ++i)
    found[i] = {i, status, 1.0f, size_t(100), i == 1 ? kCudnnDeterministic : 0, kCudnnFmaMath, {}};
  *count = 3;
  return CudnnStatus::Success;
}

// The arrays of a convolution.
struct Arrays {
  const CudnnTensorObject &input, &weight, &output;
};

// Calls visit(place in the input, in the weight, in the output) for all that is multiplied.
template <typename Visit>
void for_each_product(const Arrays& a, const CudnnConvolutionObject& c, Visit visit) {
  const int inputs = a.weight.dims[1], outputs = a.output.dims[1] / c.groups;
  const auto& o = a.output.dims;
  for (int n = 0; n < o[0]; ++n)
    for (int channel = 0; channel < o[1]; ++channel)
      for (int y = 0; y < o[2]; ++y)
        for (int x = 0; x < o[3]; ++x)
          for (int i = 0; i < a.weight.dims[2]; ++i)
            for (int j = 0; j < a.weight.dims[3]; ++j) {
              const int row = y * c.stride[0] - c.padding[0] + i * c.dilation[0];
              const int column = x * c.stride[1] - c.padding[1] + j * c.dilation[1];
              if (row < 0 || row >= a.input.dims[2] || column < 0 || column >= a.input.dims[3])
                continue;
              for (int k = 0; k < inputs; ++k)
                visit(place_of(a.input, n, channel / outputs * inputs + k, row, column),
                      place_of(a.weight, channel, k, i, j), place_of(a.output, n, channel, y, x));
            }
}

// Notes what the call was given. Returns whether it goes on.
bool starts(int algorithm, void* workspace) {
  cudnn_state.algorithm = algorithm;
  cudnn_state.workspace = workspace;
  return cudnn_state.result == CudnnStatus::Success;
}

void clear(const CudnnTensorObject& tensor, float* data) {
  size_t size = 1;
  for (int extent : tensor.dims) size *= extent;
  std::memset(data, 0, size * sizeof(float));
}

const CudnnTensorObject& tensor(const void* described) {
  return *static_cast<const CudnnTensorObject*>(described);
}
const float* floats(const void* data) { return static_cast<const float*>(data); }
float* floats(void* data) { return static_cast<float*>(data); }

}  // namespace

extern "C" {

FakeCudnn& fake_cudnn() { return cudnn_state; }

const char* cudnnGetErrorString(CudnnStatus) { return "an error of the fake"; }

CudnnStatus cudnnCreate(CudnnHandle* handle) {
  *handle = reinterpret_cast<CudnnHandle>(&cudnn_state);
  return CudnnStatus::Success;
}
CudnnStatus cudnnSetStream(CudnnHandle, void*) { return CudnnStatus::Success; }

CudnnStatus cudnnCreateTensorDescriptor(CudnnTensor* made) {
  *made = new CudnnTensorObject{};
  return CudnnStatus::Success;
}
CudnnStatus cudnnDestroyTensorDescriptor(CudnnTensor made) {
  delete made;
  return CudnnStatus::Success;
}
CudnnStatus cudnnSetTensorNdDescriptorEx(CudnnTensor made, int, CudnnType type, int count,
                                         const int* dims) {
  return describe(*made, type, count, dims);
}
CudnnStatus cudnnCreateFilterDescriptor(CudnnFilter* made) {
  *made = new CudnnFilterObject{};
  return CudnnStatus::Success;
}
CudnnStatus cudnnDestroyFilterDescriptor(CudnnFilter made) {
  delete made;
  return CudnnStatus::Success;
}
CudnnStatus cudnnSetFilterNdDescriptor(CudnnFilter made, CudnnType type, int, int count,
                                       const int* dims) {
  return describe(*made, type, count, dims);
}
CudnnStatus cudnnCreateConvolutionDescriptor(CudnnConvolution* made) {
  *made = new CudnnConvolutionObject{};
  return CudnnStatus::Success;
}
CudnnStatus cudnnDestroyConvolutionDescriptor(CudnnConvolution made) {
  delete made;
  return CudnnStatus::Success;
}
CudnnStatus cudnnSetConvolutionNdDescriptor(CudnnConvolution made, int, const int* padding,
                                            const int* stride, const int* dilation, int,
                                            CudnnType) {
  std::memcpy(made->padding, padding, sizeof(made->padding));
  std::memcpy(made->stride, stride, sizeof(made->stride));
  std::memcpy(made->dilation, dilation, sizeof(made->dilation));
  return CudnnStatus::Success;
}
CudnnStatus cudnnSetConvolutionGroupCount(CudnnConvolution made, int groups) {
  made->groups = groups;
  return CudnnStatus::Success;
}
CudnnStatus cudnnSetConvolutionMathType(CudnnConvolution, int math) {
  cudnn_state.math = math;
  return CudnnStatus::Success;
}

CudnnStatus cudnnGetConvolutionForwardAlgorithm_v7(CudnnHandle, const void* input, const void*,
                                                   CudnnConvolution, const void*, int, int* count,
                                                   CudnnAlgorithm* found) {
  return choose(input, count, found);
}
CudnnStatus cudnnGetConvolutionBackwardDataAlgorithm_v7(CudnnHandle, const void* weight,
                                                        const void*, CudnnConvolution, const void*,
                                                        int, int* count, CudnnAlgorithm* found) {
  return choose(weight, count, found);
}
CudnnStatus cudnnGetConvolutionBackwardFilterAlgorithm_v7(CudnnHandle, const void* input,
                                                          const void*, CudnnConvolution,
                                                          const void*, int, int* count,
                                                          CudnnAlgorithm* found) {
  return choose(input, count, found);
}

CudnnStatus cudnnConvolutionForward(CudnnHandle, const void*, const void* input, const void* x,
                                    const void* weight, const void* w, CudnnConvolution convolution,
                                    int algorithm, void* workspace, size_t, const void*,
                                    const void* output, void* y) {
  if (!starts(algorithm, workspace)) return cudnn_state.result;
  clear(tensor(output), floats(y));
  for_each_product(
      {tensor(input), tensor(weight), tensor(output)}, *convolution,
      [&](size_t i, size_t k, size_t o) { floats(y)[o] += floats(x)[i] * floats(w)[k]; });
  return CudnnStatus::Success;
}

CudnnStatus cudnnConvolutionBackwardData(CudnnHandle, const void*, const void* weight,
                                         const void* w, const void* output, const void* dy,
                                         CudnnConvolution convolution, int algorithm,
                                         void* workspace, size_t, const void*, const void* input,
                                         void* dx) {
  if (!starts(algorithm, workspace)) return cudnn_state.result;
  clear(tensor(input), floats(dx));
  for_each_product(
      {tensor(input), tensor(weight), tensor(output)}, *convolution,
      [&](size_t i, size_t k, size_t o) { floats(dx)[i] += floats(dy)[o] * floats(w)[k]; });
  return CudnnStatus::Success;
}

CudnnStatus cudnnConvolutionBackwardFilter(CudnnHandle, const void*, const void* input,
                                           const void* x, const void* output, const void* dy,
                                           CudnnConvolution convolution, int algorithm,
                                           void* workspace, size_t, const void*, const void* weight,
                                           void* dw) {
  if (!starts(algorithm, workspace)) return cudnn_state.result;
  clear(tensor(weight), floats(dw));
  for_each_product(
      {tensor(input), tensor(weight), tensor(output)}, *convolution,
      [&](size_t i, size_t k, size_t o) { floats(dw)[k] += floats(dy)[o] * floats(x)[i]; });
  return CudnnStatus::Success;
}

}  // extern "C"
}  // namespace metal::test
