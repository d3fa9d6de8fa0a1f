#include "metal/cuda/driver/gpu_memory.h"

#include <pthread.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace metal::cuda {
namespace {

constexpr uint64_t kStep = uint64_t{64} << 20;  // CUDA wants multiples of 2 MB

// The memories of all GPUs that are in use.
struct Memories {
  std::mutex mutex;
  std::vector<GpuMemory*> all;
};

Memories& memories() {
  static Memories& memories = []() -> Memories& {
    constexpr auto unlock = [] {
      for (GpuMemory* memory : ::metal::cuda::memories().all) memory->unlock();
      ::metal::cuda::memories().mutex.unlock();
    };
    constexpr auto lock = [] {
      ::metal::cuda::memories().mutex.lock();
      for (GpuMemory* memory : ::metal::cuda::memories().all) memory->lock();
    };
    pthread_atfork(lock, unlock, unlock);
    return *new Memories;
  }();
  return memories;
}

}  // namespace

GpuMemory::GpuMemory(const Gpu& gpu)
    : Heap([this](char* start, uint64_t bytes) { return commit(start, bytes); }, gpu.memory_size()),
      gpu_(gpu),
      staging_(gpu),
      reserved_(std::min(range_size(), gpu.memory_size() / kStep * kStep)) {
  gpu_.check(gpu_.api().cuMemAddressReserve(&base_, reserved_, 0, 0, 0),
             "reserve the GPU's addresses");
  admit(gpu_);
  std::vector<GpuMemory*> others;
  {
    const std::lock_guard lock(memories().mutex);
    others = memories().all;
    memories().all.push_back(this);
  }
  for (GpuMemory* other : others) {
    if (gpu_.can_access(other->gpu_)) other->admit(gpu_);
    if (other->gpu_.can_access(gpu_)) admit(other->gpu_);
  }
}

// Lets the GPU access the heap's counterparts. If that fails, the driver copies through the host.
void GpuMemory::admit(const Gpu& other) {
  const MemoryAccess access{.location = other.location()};
  const std::lock_guard lock(mutex_);
  const Api& api = gpu_.api();
  if (committed_ == 0 || api.cuMemSetAccess(base_, committed_, &access, 1) == Result::Success) {
    admitted_.push_back(access);
  }
}

void GpuMemory::deallocate(void* memory) {
  if (!gpu_.lost()) Heap::deallocate(memory);
}

// Kernels may read the heap's margin around a block.
void GpuMemory::prepare(void* host, size_t bytes) {
  if (has(host)) return;
  const std::lock_guard lock(mutex_);
  Mirror& mirror = mirror_with(host);
  gpu_.enter();
  const uint64_t offset = mirror.heap.offset_of(host);
  const uint64_t first = (offset - kMargin) / kStep;
  const uint64_t last = std::min((offset + bytes + kMargin - 1) / kStep, mirror.made.size() - 1);
  for (uint64_t step = first; step <= last; ++step) {
    if (mirror.made[step]) continue;
    const DeviceAddress address = mirror.base + step * kStep;
    if (!map(address, kStep) ||
        gpu_.api().cuMemSetAccess(address, kStep, admitted_.data(), 1) != Result::Success) {
      throw std::runtime_error("[metal] " + gpu_.name() + " (number " +
                               std::to_string(gpu_.number()) +
                               ") has no memory left for a copy of another GPU's array");
    }
    mirror.made[step] = true;
  }
}

// The caller holds the mutex.
GpuMemory::Mirror& GpuMemory::mirror_with(const void* host) {
  for (Mirror& mirror : mirrors_) {
    if (mirror.heap.has(host)) return mirror;
  }
  const std::lock_guard lock(memories().mutex);
  for (const GpuMemory* memory : memories().all) {
    if (!memory->has(host)) continue;
    Mirror mirror{*memory, 0, std::vector<bool>(memory->reserved_ / kStep)};
    gpu_.enter();
    gpu_.check(gpu_.api().cuMemAddressReserve(&mirror.base, memory->reserved_, 0, 0, 0),
               "reserve the GPU's addresses");
    return mirrors_.emplace_back(std::move(mirror));
  }
  throw std::logic_error("[GpuMemory] not an address of a GPU's heap");
}

DeviceAddress GpuMemory::address_of(const void* host) const {
  if (has(host)) return base_ + offset_of(host);
  const std::lock_guard lock(mutex_);
  for (const Mirror& mirror : mirrors_) {
    if (mirror.heap.has(host)) return mirror.base + mirror.heap.offset_of(host);
  }
  throw std::logic_error("[GpuMemory] the memory has not been prepared");
}

void* GpuMemory::counterpart(void* host) const { return std::bit_cast<void*>(address_of(host)); }

void GpuMemory::download(void* host, size_t bytes) {
  gpu_.enter();
  staging_.download(host, address_of(host), bytes);
}

// In a process made by fork(), the driver cannot be used: the memory is for the host only.
bool GpuMemory::commit(char* start, uint64_t bytes) {
  if (gpu_.is_forked() || gpu_.lost()) return true;
  const bool fits = offset_of(start) + bytes <= reserved_;
  const DeviceAddress address = base_ + offset_of(start);
  if (!fits || !gpu_.try_enter() || !map(address, bytes)) return false;
  const std::lock_guard lock(mutex_);
  committed_ = offset_of(start) + bytes;
  return gpu_.api().cuMemSetAccess(address, bytes, admitted_.data(), admitted_.size()) ==
         Result::Success;
}

bool GpuMemory::map(DeviceAddress address, uint64_t bytes) {
  const Api& api = gpu_.api();
  const MemoryProperties properties{.location = gpu_.location()};
  MemoryHandle memory = 0;
  if (api.cuMemCreate(&memory, bytes, &properties, 0) != Result::Success) return false;
  const bool mapped = api.cuMemMap(address, bytes, 0, memory, 0) == Result::Success;
  api.cuMemRelease(memory);  // the mapping keeps it
  return mapped;
}

}  // namespace metal::cuda
