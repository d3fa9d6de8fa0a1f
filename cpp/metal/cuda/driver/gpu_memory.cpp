#include "metal/cuda/driver/gpu_memory.h"

#include <pthread.h>

#include <algorithm>
#include <bit>

namespace metal::cuda {
namespace {

constexpr uint64_t kReserveStep = uint64_t{64} << 20;  // CUDA wants multiples of 2 MB

GpuMemory* gpu_memory = nullptr;  // there is only one

}  // namespace

GpuMemory::GpuMemory(const Gpu& gpu)
    : Heap([this](char* start, uint64_t bytes) { return commit(start, bytes); }, gpu.memory_size()),
      gpu_(gpu),
      reserved_(std::min(range_size(), gpu.memory_size() / kReserveStep * kReserveStep)) {
  gpu_.check(gpu_.api().cuMemAddressReserve(&base_, reserved_, 0, 0, 0),
             "reserve the GPU's addresses");
  gpu_memory = this;
  pthread_atfork([] { gpu_memory->lock(); }, [] { gpu_memory->unlock(); },
                 [] { gpu_memory->unlock(); });
}

void GpuMemory::deallocate(void* memory) {
  if (!gpu_.lost()) Heap::deallocate(memory);
}

void* GpuMemory::counterpart(void* host) const { return std::bit_cast<void*>(address_of(host)); }

void GpuMemory::download(void* host, size_t bytes) {
  gpu_.enter();
  gpu_.check(gpu_.api().cuMemcpyDtoH_v2(host, address_of(host), bytes), "copy memory from the GPU");
}

// In a process made by fork(), the driver cannot be used: the memory is for the host only.
bool GpuMemory::commit(char* start, uint64_t bytes) {
  if (gpu_.is_forked() || gpu_.lost()) return true;
  const bool fits = static_cast<uint64_t>(start + bytes - base()) <= reserved_;
  if (!fits || !gpu_.try_enter()) return false;
  const Api& api = gpu_.api();
  const MemoryProperties properties{.location = gpu_.location()};
  const MemoryAccess access{.location = gpu_.location()};
  const DeviceAddress address = address_of(start);
  MemoryHandle memory = 0;
  if (api.cuMemCreate(&memory, bytes, &properties, 0) != Result::Success) return false;
  const bool usable = api.cuMemMap(address, bytes, 0, memory, 0) == Result::Success &&
                      api.cuMemSetAccess(address, bytes, &access, 1) == Result::Success;
  api.cuMemRelease(memory);  // the mapping keeps it
  return usable;
}

}  // namespace metal::cuda
