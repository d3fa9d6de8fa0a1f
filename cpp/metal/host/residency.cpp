#include "metal/host/residency.h"

#include <atomic>
#include <utility>

namespace metal {
namespace {

struct Counter {
  std::atomic<uint64_t> copies{0}, bytes{0};
  void add(size_t count) {
    ++copies;
    bytes += count;
  }
};

Counter uploads, downloads;

}  // namespace

TransferStatistics transfer_statistics() {
  return {uploads.copies, uploads.bytes, downloads.copies, downloads.bytes};
}

namespace host {

std::unique_ptr<Residency> Residency::of(void* memory, size_t bytes) {
  DeviceMemory* device = default_driver().device_memory();
  return device ? std::make_unique<Residency>(memory, bytes, *device) : nullptr;
}

Residency::Residency(void* memory, size_t bytes, DeviceMemory& device, bool counted)
    : memory_(memory), bytes_(bytes), device_(device), counted_(counted) {}

void Residency::prepare_host(MTL::HostAccess access, size_t first, size_t count) {
  const std::lock_guard lock(mutex_);
  switch (access) {
    case MTL::HostAccess::Address:
      if (current_ == Current::Neither) current_ = Current::Host;
      break;
    case MTL::HostAccess::Read:
      if (current_ != Current::Device) break;
      if (first == 0 && count >= bytes_) {
        download(0, bytes_);
        current_ = Current::Both;
      } else {  // the rest stays where it is: this may be one element of many
        download(first, count);
      }
      break;
    case MTL::HostAccess::Write:
      if (current_ == Current::Device) download(0, bytes_);
      current_ = Current::Host;
      break;
  }
}

void Residency::download(size_t first, size_t count) {
  if (count == 0) return;
  device_.download(static_cast<char*>(memory_) + first, count);
  if (counted_) downloads.add(count);
}

void Residency::begin_sharing() {
  const std::lock_guard lock(mutex_);
  if (current_ == Current::Device) download(0, bytes_);
  current_ = Current::Host;
  ++sharers_;
}

void Residency::end_sharing() {
  const std::lock_guard lock(mutex_);
  --sharers_;
}

bool Residency::is_shared() {
  const std::lock_guard lock(mutex_);
  return sharers_ > 0;
}

bool Residency::prepare_launch(const Transfers& buffer, bool writes) {
  const std::lock_guard lock(mutex_);
  const bool other_uploads = uploader_ && &uploader_->stream() != &buffer.stream();
  if (current_ == Current::Host || (current_ == Current::Both && other_uploads)) {
    if (bytes_) buffer.stream().upload(memory_, bytes_);
    if (bytes_ && counted_) uploads.add(bytes_);
    uploader_ = &buffer;
    current_ = Current::Both;
  }
  if (writes) current_ = Current::Device;
  return uploader_ == &buffer || sharers_ > 0;
}

void Residency::settle(const Transfers& buffer) {
  const std::lock_guard lock(mutex_);
  if (uploader_ == &buffer) uploader_ = nullptr;
  if (sharers_ == 0 || current_ == Current::Neither) return;
  if (current_ == Current::Device) download(0, bytes_);
  current_ = Current::Host;
}

std::vector<BufferUse> buffer_uses(const Kernel& kernel,
                                   Residency* const (&residencies)[kMaxBufferBindings]) {
  std::vector<BufferUse> uses;
  for (const ArgumentInfo& argument : kernel.info.arguments) {
    if (argument.kind != ArgumentKind::Buffer || !residencies[argument.index]) continue;
    uses.push_back({residencies[argument.index], argument.index, argument.writable});
  }
  return uses;
}

void Transfers::prepare(const std::vector<BufferUse>& uses, LaunchParameters& parameters) {
  for (const BufferUse& use : uses) {
    if (!on_device_) {
      use.residency->prepare_host(use.writes ? MTL::HostAccess::Write : MTL::HostAccess::Read, 0,
                                  SIZE_MAX);
      continue;
    }
    if (use.residency->prepare_launch(*this, use.writes)) unsettled_.push_back(use.residency);
    void*& address = parameters.buffers[use.index];
    address = use.residency->counterpart(address);
  }
}

void Transfers::settle() {
  for (Residency* residency : std::exchange(unsettled_, {})) residency->settle(*this);
}

void Transfers::finish() {
  stream_.wait();
  settle();
}

}  // namespace host
}  // namespace metal
