// A fake of NVIDIA's cuBLASLt, for memory of the fake GPU.
#pragma once

#include "metal/cuda/driver/cublas_lt.h"

namespace metal::test {

struct FakeCublas {
  // Of the last product.
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
  cuda::CublasStatus result = cuda::CublasStatus::Success;  // of the next ones
};

// The function of the library with this name.
inline constexpr const char* kFakeCublas = "fake_cublas";

}  // namespace metal::test
