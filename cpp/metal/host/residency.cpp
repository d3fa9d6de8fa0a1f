#include "metal/host/residency.h"

#include <algorithm>
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
  const bool apart = default_driver().device_memory() != nullptr;
  return apart ? std::make_unique<Residency>(memory, bytes) : nullptr;
}

void Residency::prepare_host(MTL::HostAccess access, size_t first, size_t count) {
  const std::lock_guard lock(mutex_);
  switch (access) {
    case MTL::HostAccess::Address:
      if (!device_) on_host_ = true;
      break;
    case MTL::HostAccess::Read:
      if (on_host_ || !device_) break;
      if (first == 0 && count >= bytes_) {
        make_host_current();
      } else {  // the rest stays where it is: this may be one element of many
        download(first, count);
      }
      break;
    case MTL::HostAccess::Write:
      move_to_host();
      break;
  }
}

bool Residency::is_current_on(const DeviceMemory& device) const {
  return device_ == &device || std::ranges::find(others_, &device) != others_.end();
}

bool Residency::is_being_copied_to(const Transfers& buffer) const {
  return std::ranges::any_of(copying_, [&](const Transfers* other) {
    return other->device() == buffer.device() && &other->stream() != &buffer.stream();
  });
}

bool Residency::has_copied(const Transfers& buffer) const {
  return std::ranges::find(copying_, &buffer) != copying_.end();
}

void Residency::make_host_current() {
  if (!on_host_ && device_) download(0, bytes_);
  on_host_ = true;
}

// The devices' copies are not current any more.
void Residency::move_to_host() {
  make_host_current();
  device_ = nullptr;
  others_.clear();
}

// From the first device, whose copy is complete: the others' may still be on their way.
void Residency::download(size_t first, size_t count) {
  if (count == 0) return;
  device_->download(static_cast<char*>(memory_) + first, count);
  if (counted_) downloads.add(count);
}

void Residency::begin_sharing() {
  const std::lock_guard lock(mutex_);
  move_to_host();
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
  DeviceMemory& device = *buffer.device();
  device.prepare(memory_, bytes_);
  const bool has_contents = on_host_ || device_;
  if (has_contents && (!is_current_on(device) || is_being_copied_to(buffer))) copy_to(buffer);
  if (writes) {
    on_host_ = false;
    device_ = &device;
    others_.clear();
  }
  return sharers_ > 0 || has_copied(buffer);
}

void Residency::copy_to(const Transfers& buffer) {
  if (bytes_ && on_host_) {
    buffer.stream().upload(memory_, bytes_);
    if (counted_) uploads.add(bytes_);
  } else if (bytes_ && device_ != buffer.device()) {
    buffer.stream().copy_from(*device_, memory_, bytes_);
  }
  copying_.push_back(&buffer);
  if (is_current_on(*buffer.device())) return;
  if (device_) {
    others_.push_back(buffer.device());
  } else {
    device_ = buffer.device();
  }
}

void Residency::settle(const Transfers& buffer) {
  const std::lock_guard lock(mutex_);
  if (has_copied(buffer)) {  // the device's copy is complete, whoever else writes the same bytes
    std::erase_if(copying_, [&](auto* other) { return other->device() == buffer.device(); });
  }
  if (sharers_ == 0 || (!on_host_ && !device_)) return;
  move_to_host();
}

std::vector<BufferUse> buffer_uses(const Kernel& kernel, uint32_t by_value,
                                   Residency* const (&residencies)[kMaxBufferBindings]) {
  std::vector<BufferUse> uses;
  for (const ArgumentInfo& argument : kernel.info.arguments) {
    if (argument.kind != ArgumentKind::Buffer || !residencies[argument.index]) continue;
    if (by_value >> argument.index & 1) continue;
    uses.push_back({residencies[argument.index], argument.index, argument.writable});
  }
  return uses;
}

void Transfers::prepare(const std::vector<BufferUse>& uses, LaunchParameters& parameters) {
  for (const BufferUse& use : uses) {
    if (!device_) {
      use.residency->prepare_host(use.writes ? MTL::HostAccess::Write : MTL::HostAccess::Read, 0,
                                  SIZE_MAX);
      continue;
    }
    if (use.residency->prepare_launch(*this, use.writes)) unsettled_.push_back(use.residency);
    void*& address = parameters.buffers[use.index];
    address = device_->counterpart(address);
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
