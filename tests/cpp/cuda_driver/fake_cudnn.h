// A fake of NVIDIA's cuDNN, for memory of the fake GPU.
#pragma once

#include "metal/cuda/driver/cudnn.h"

namespace metal::test {

struct FakeCudnn {
  int algorithm = -1;                                     // of the last convolution
  void* workspace = nullptr;                              // of the last call
  int math = -1;                                          // of the last description
  int descriptions = 0;                                   // of graphs, that exist
  cuda::CudnnStatus result = cuda::CudnnStatus::Success;  // of the next calls
};

// Inside the library.
extern "C" FakeCudnn& fake_cudnn();

// The function of the library with this name.
inline constexpr const char* kFakeCudnn = "fake_cudnn";

}  // namespace metal::test
