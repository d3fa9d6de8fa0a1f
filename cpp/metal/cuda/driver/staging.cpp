#include "metal/cuda/driver/staging.h"

#include <algorithm>
#include <cstring>

#include "metal/cpu/runtime/parallel_for.h"
#include "metal/process_end.h"

namespace metal::cuda {
namespace {

// The driver puts copies of so few bytes directly into the GPU's queue.
constexpr size_t kFewBytes = size_t{16} << 10;

// One core copies a third of what the GPU's bus moves.
void copy_on_all_cores(char* to, const char* from, size_t bytes) {
  constexpr size_t kGrain = size_t{256} << 10;
  cpu::parallel_for(bytes, kGrain, [=](size_t first, size_t last) {
    std::memcpy(to + first, from + first, last - first);
  });
}

size_t part_count(size_t bytes) { return (bytes + PinnedParts::kBytes - 1) / PinnedParts::kBytes; }

size_t part_bytes(size_t bytes, size_t number) {
  return std::min(PinnedParts::kBytes, bytes - number * PinnedParts::kBytes);
}

}  // namespace

CudaStreamHandle PinnedParts::stream() {
  if (!stream_) {
    gpu_.check(gpu_.api().cuStreamCreate(&stream_, kStreamNonBlocking), "open a queue of copies");
  }
  return stream_;
}

PinnedParts::Part& PinnedParts::part(size_t number) {
  Part& part = parts_[number % parts_.size()];
  if (!part.memory) {
    void* memory = nullptr;
    gpu_.check(gpu_.api().cuEventCreate(&part.copied, kEventWithoutTime), "make an event");
    gpu_.check(gpu_.api().cuMemHostAlloc(&memory, kBytes, kHostPortable), "get pinned memory");
    part.memory = static_cast<char*>(memory);
  }
  return part;
}

void PinnedParts::record(const Part& part) {
  gpu_.check(gpu_.api().cuEventRecord(part.copied, stream()), "note the end of a copy");
}

void PinnedParts::wait_for(const Part& part) {
  gpu_.check(gpu_.api().cuEventSynchronize(part.copied), "wait for a copy");
}

void Staging::upload(DeviceAddress to, const void* from, size_t bytes, CudaStreamHandle stream) {
  constexpr const char* kAction = "copy memory to the GPU";
  const Api& api = gpu_.api();
  if (bytes <= kFewBytes) {  // the driver reads the memory before it returns, as it is not pinned
    gpu_.check(api.cuMemcpyHtoDAsync_v2(to, from, bytes, stream), kAction);
    return;
  }
  const InUse in_use;
  InUse::check();
  const std::lock_guard lock(up_mutex_);
  for (size_t i = 0; i < part_count(bytes); ++i) {
    const size_t offset = i * PinnedParts::kBytes, count = part_bytes(bytes, i);
    PinnedParts::Part& part = up_.part(i);
    up_.wait_for(part);
    copy_on_all_cores(part.memory, static_cast<const char*>(from) + offset, count);
    gpu_.check(api.cuMemcpyHtoDAsync_v2(to + offset, part.memory, count, up_.stream()), kAction);
    up_.record(part);
  }
  gpu_.check(api.cuStreamWaitEvent(stream, up_.part(part_count(bytes) - 1).copied, 0), kAction);
}

void Staging::download(void* to, DeviceAddress from, size_t bytes) {
  const InUse in_use;
  InUse::check();
  const std::lock_guard lock(down_mutex_);
  const auto start = [&](size_t i) {
    const PinnedParts::Part& part = down_.part(i);
    gpu_.check(gpu_.api().cuMemcpyDtoHAsync_v2(part.memory, from + i * PinnedParts::kBytes,
                                               part_bytes(bytes, i), down_.stream()),
               "copy memory from the GPU");
    down_.record(part);
  };
  const size_t count = part_count(bytes);
  for (size_t i = 0; i < std::min(count, PinnedParts::kCount); ++i) start(i);
  for (size_t i = 0; i < count; ++i) {
    const PinnedParts::Part& part = down_.part(i);
    down_.wait_for(part);
    copy_on_all_cores(static_cast<char*>(to) + i * PinnedParts::kBytes, part.memory,
                      part_bytes(bytes, i));
    if (i + PinnedParts::kCount < count) start(i + PinnedParts::kCount);
  }
}

}  // namespace metal::cuda
