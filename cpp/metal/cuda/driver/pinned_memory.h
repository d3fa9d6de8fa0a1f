// Memory that the host and an NVIDIA GPU share, at the same addresses. It is in the host's memory;
// kernels access it over the bus.
#pragma once

#include "metal/cpu/runtime/memory.h"
#include "metal/cuda/driver/gpu.h"
#include "metal/driver.h"

namespace metal::cuda {

class PinnedMemory : public Allocator {
 public:
  explicit PinnedMemory(const Gpu& gpu);  // for the whole life of the process

  void* allocate(size_t bytes) override { return heap_.allocate(bytes); }
  // If the GPU is lost, the memory is not reused, as a kernel may still run.
  void deallocate(void* memory) override;
  size_t allocated_size(const void* memory) const override { return heap_.allocated_size(memory); }

  MemoryStatistics statistics() const override { return heap_.statistics(); }
  void reset_peak() override { heap_.reset_peak(); }
  void clear_cache() override { heap_.clear_cache(); }
  uint64_t set_memory_limit(uint64_t bytes) override { return heap_.set_memory_limit(bytes); }
  uint64_t set_cache_limit(uint64_t bytes) override { return heap_.set_cache_limit(bytes); }
  uint64_t memory_limit() const override { return heap_.memory_limit(); }
  bool over_limit() const override { return heap_.over_limit(); }

 private:
  bool pin(char* start, uint64_t bytes) const;

  const Gpu& gpu_;
  cpu::Heap heap_;
};

}  // namespace metal::cuda
