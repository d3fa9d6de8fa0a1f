// A fake of NVIDIA's cuDNN, for memory of the fake GPU.
#pragma once

#include "metal/cuda/driver/cudnn.h"

namespace metal::test {

struct FakeCudnn {
  int algorithm = -1;                                     // of the last convolution
  void* workspace = nullptr;                              // likewise
  int math = -1;                                          // of the last description
  cuda::CudnnStatus result = cuda::CudnnStatus::Success;  // of the next convolutions
};

// The function of the library with this name.
inline constexpr const char* kFakeCudnn = "fake_cudnn";
using FindFakeCudnn = FakeCudnn& (*)();

}  // namespace metal::test
