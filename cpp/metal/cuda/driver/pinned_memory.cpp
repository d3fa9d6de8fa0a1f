#include "metal/cuda/driver/pinned_memory.h"

#include <pthread.h>

namespace metal::cuda {
namespace {

PinnedMemory* pinned = nullptr;  // there is only one

}  // namespace

PinnedMemory::PinnedMemory(const Gpu& gpu)
    : gpu_(gpu), heap_([this](char* start, uint64_t bytes) { return pin(start, bytes); }) {
  pinned = this;
  pthread_atfork([] { pinned->heap_.lock(); }, [] { pinned->heap_.unlock(); },
                 [] { pinned->heap_.unlock(); });
}

void PinnedMemory::deallocate(void* memory) {
  if (!gpu_.lost()) heap_.deallocate(memory);
}

// In a process made by fork(), the driver cannot be used: the memory is for the host only.
bool PinnedMemory::pin(char* start, uint64_t bytes) const {
  if (gpu_.is_forked() || gpu_.lost()) return true;
  return gpu_.try_enter() &&
         gpu_.api().cuMemHostRegister_v2(start, bytes, kRegisterPortable | kRegisterMapped) ==
             Result::Success;
}

}  // namespace metal::cuda
