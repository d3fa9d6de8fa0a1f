// A fake of NVIDIA's cuDNN, for memory of the fake GPU.
#pragma once

#include "metal/cuda/driver/cudnn.h"

namespace metal::test {

struct FakeCudnn {
  int engine = -1;                                        // of the last call
  void* workspace = nullptr;                              // of the last call
  int descriptions = 0;                                   // of graphs, that exist
  cuda::CudnnStatus result = cuda::CudnnStatus::Success;  // of the next calls
  bool knows_shapes = true;  // offers engines for a graph's shapes, not only those for all
};

// The engines that the library offers for each graph, in this order. All compute the same.
struct FakeCudnnEngine {
  int note = -1, behavior = -1;  // none
  bool is_usable = true;
};
inline constexpr FakeCudnnEngine kFakeCudnnEngines[] = {
    {.note = 4}, {.behavior = 0}, {.note = 0}, {.is_usable = false}, {}};

// Inside the library.
extern "C" FakeCudnn& fake_cudnn();

// The function of the library with this name.
inline constexpr const char* kFakeCudnn = "fake_cudnn";

}  // namespace metal::test
