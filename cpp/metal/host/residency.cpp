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

void* Residency::constant_copy(const Transfers& buffer, const void* place) {
  const std::lock_guard lock(mutex_);
  if (!on_host_ || is_current_on(*buffer.device())) return nullptr;
  auto* copy = static_cast<char*>(buffer.copy_constant(memory_, bytes_, counted_));
  if (!copy) return nullptr;
  return copy + (static_cast<const char*>(place) - static_cast<const char*>(memory_));
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

std::vector<BufferUse> buffer_uses(const Kernel& kernel, uint32_t by_value, uint32_t from_bytes,
                                   Residency* const (&residencies)[kMaxBufferBindings]) {
  std::vector<BufferUse> uses;
  for (const ArgumentInfo& argument : kernel.info.arguments) {
    if (argument.kind != ArgumentKind::Buffer || !residencies[argument.index]) continue;
    if (by_value >> argument.index & 1) continue;
    uses.push_back({residencies[argument.index], argument.index, argument.writable,
                    (from_bytes >> argument.index & 1) != 0});
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
    void*& address = parameters.buffers[use.index];
    if (void* copy = constant_copy(use, uses, parameters)) {
      address = copy;
      continue;
    }
    if (use.residency->prepare_launch(*this, use.writes)) unsettled_.push_back(use.residency);
    address = device_->counterpart(address);
  }
}

// A launch that also writes the buffer sees its writes.
void* Transfers::constant_copy(const BufferUse& use, const std::vector<BufferUse>& uses,
                               const LaunchParameters& parameters) const {
  const auto writes = [&](const BufferUse& other) {
    return other.writes && other.residency == use.residency;
  };
  if (std::ranges::any_of(uses, writes)) return nullptr;
  const void* address = parameters.buffers[use.index];
  if (!use.from_bytes) return use.residency->constant_copy(*this, address);
  return copy_constant(address, parameters.buffer_bytes[use.index], /*counted=*/false);
}

void* Transfers::copy_constant(const void* bytes, size_t count, bool counted) const {
  const ConstantCopy copy = stream_.copy_constant(bytes, count);
  if (copy.is_new && counted) uploads.add(count);
  return copy.address;
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
