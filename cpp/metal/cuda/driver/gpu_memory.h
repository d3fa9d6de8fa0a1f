// The memory of an NVIDIA GPU, in which every address of a heap of the host has a counterpart.
#pragma once

#include "metal/cpu/runtime/memory.h"
#include "metal/cuda/driver/gpu.h"
#include "metal/driver.h"

namespace metal::cuda {

// The GPU's addresses are reserved once, as many as it has memory; whenever the heap takes memory,
// the GPU gets as much at the same offset. The host's side takes no memory until somebody touches
// it.
class GpuMemory : public cpu::Heap, public DeviceMemory {
 public:
  explicit GpuMemory(const Gpu& gpu);  // for the whole life of the process

  // If the GPU is lost, the memory is not reused, as a kernel may still run.
  void deallocate(void* memory) override;

  void* counterpart(void* host) const override;
  void download(void* host, size_t bytes) override;

 private:
  bool commit(char* start, uint64_t bytes);
  DeviceAddress address_of(const void* host) const {
    return base_ + static_cast<uint64_t>(static_cast<const char*>(host) - base());
  }

  const Gpu& gpu_;
  const uint64_t reserved_;  // bytes of addresses
  DeviceAddress base_ = 0;
};

}  // namespace metal::cuda
