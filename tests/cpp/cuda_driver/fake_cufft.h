// A fake of NVIDIA's cuFFT, for memory of the fake GPU.
#pragma once

#include <cstddef>

#include "metal/cuda/driver/cufft.h"

namespace metal::test {

struct FakeCufft {
  void* workspace = nullptr;  // of the last transform
  size_t workspace_bytes = 100;
  cuda::CufftResult result = cuda::CufftResult::Success;  // of the next plans and transforms
};

// The function of the library with this name.
inline constexpr const char* kFakeCufft = "fake_cufft";

}  // namespace metal::test
