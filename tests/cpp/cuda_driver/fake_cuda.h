// A fake of NVIDIA's driver library: it runs nothing and records the calls.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "metal/cuda/driver/api.h"

namespace metal::test {

struct FakeLaunch {
  std::string entry;
  std::array<unsigned, 3> blocks, threads;
  unsigned shared_bytes;
  std::string parameters;
};

// What happened to a GPU's memory.
struct FakeCopy {
  enum Kind { Upload, Download, Peer } kind;
  size_t bytes;
  cuda::CudaStreamHandle stream;
};

struct FakeCuda {
  std::vector<FakeLaunch> launches;
  std::vector<FakeCopy> copies;
  std::vector<cuda::CudaStreamHandle> waits;  // streams that wait for events
  std::string ptx;                            // what was last assembled
  int assembled = 0;
  size_t memory_bytes = 0;              // that were taken
  std::set<cuda::CudaDevice> admitted;  // that access any memory
  size_t free_memory = SIZE_MAX;        // that can be taken
  bool kernels_end = true;
  cuda::Result stream_state = cuda::Result::NotReady;  // while a kernel runs
  cuda::Result launch_result = cuda::Result::Success;
};

// The function of the library with this name.
inline constexpr const char* kFakeCuda = "fake_cuda";
using FindFakeCuda = FakeCuda& (*)();

}  // namespace metal::test
