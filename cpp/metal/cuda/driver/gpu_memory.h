// The memory of an NVIDIA GPU, in which every address of a heap of the host has a counterpart.
#pragma once

#include <list>
#include <mutex>
#include <vector>

#include "metal/cpu/runtime/memory.h"
#include "metal/cuda/driver/gpu.h"
#include "metal/cuda/driver/staging.h"
#include "metal/driver.h"

namespace metal::cuda {

// Each GPU has a heap. The GPU's addresses are reserved once, as many as it has memory; whenever
// the heap takes memory, the GPU gets as much at the same offset. The host's side takes no memory
// until somebody touches it. What lies in the heaps of other GPUs gets counterparts where this one
// uses it. They are kept until the process ends, like the heap's.
class GpuMemory : public cpu::Heap, public DeviceMemory {
 public:
  explicit GpuMemory(const Gpu& gpu);  // for the whole life of the process

  const Gpu& gpu() const { return gpu_; }
  Staging& staging() { return staging_; }

  // If the GPU is lost, the memory is not reused, as a kernel may still run.
  void deallocate(void* memory) override;

  void prepare(void* host, size_t bytes) override;
  void* counterpart(void* host) const override;
  void download(void* host, size_t bytes) override;

 private:
  // Counterparts of another GPU's heap.
  struct Mirror {
    const GpuMemory& heap;
    DeviceAddress base = 0;
    std::vector<bool> made;  // by steps
  };

  bool has(const void* host) const {
    return host >= base() && static_cast<const char*>(host) < base() + reserved_;
  }
  uint64_t offset_of(const void* host) const {
    return static_cast<uint64_t>(static_cast<const char*>(host) - base());
  }
  bool commit(char* start, uint64_t bytes);
  bool map(DeviceAddress address, uint64_t bytes);
  void admit(const Gpu& other);
  DeviceAddress address_of(const void* host) const;
  Mirror& mirror_with(const void* host);

  const Gpu& gpu_;
  Staging staging_;
  const uint64_t reserved_;  // bytes of addresses
  DeviceAddress base_ = 0;
  mutable std::mutex mutex_;            // of what follows
  uint64_t committed_ = 0;              // bytes from the base on
  std::vector<MemoryAccess> admitted_;  // GPUs that access them
  std::list<Mirror> mirrors_;
};

}  // namespace metal::cuda
