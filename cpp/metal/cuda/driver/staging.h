// Copies between the host's memory and a GPU's by way of pinned memory.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>

#include "metal/cuda/driver/gpu.h"

namespace metal::cuda {

// Memory that the GPU reads and writes itself, without the driver, which copies memory that is not
// pinned with one thread.
class PinnedParts {
 public:
  static constexpr size_t kBytes = size_t{4} << 20;
  static constexpr size_t kCount = 4;

  struct Part {
    char* memory = nullptr;
    CudaEvent copied = nullptr;  // recorded behind the last copy
  };

  explicit PinnedParts(const Gpu& gpu) : gpu_(gpu) {}

  // A stream for the copies alone, so that they do not wait for kernels.
  CudaStreamHandle stream();
  Part& part(size_t number);  // one after the other, around
  void record(const Part& part);
  void wait_for(const Part& part);

 private:
  const Gpu& gpu_;
  CudaStreamHandle stream_ = nullptr;
  std::array<Part, kCount> parts_;
};

// For the whole life of the process. Thread-safe.
class Staging {
 public:
  explicit Staging(const Gpu& gpu) : gpu_(gpu), up_(gpu), down_(gpu) {}

  // Returns when the host may change its memory. What `stream` gets next waits for the copy; the
  // copy does not wait for what the stream has got before.
  void upload(DeviceAddress to, const void* from, size_t bytes, CudaStreamHandle stream);
  // Returns when the host has the bytes.
  void download(void* to, DeviceAddress from, size_t bytes);

 private:
  const Gpu& gpu_;
  std::mutex up_mutex_, down_mutex_;
  PinnedParts up_, down_;
};

}  // namespace metal::cuda
