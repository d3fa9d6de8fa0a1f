// Which copy of a buffer is current, the host's or the device's, where a device has memory of its
// own.
#pragma once

#include <Metal/Device.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "metal/driver.h"

namespace metal::host {

class Transfers;

// Thread-safe. As in Metal, the host does not access a buffer while kernels use it, so copies need
// not wait for launches of other streams.
class Residency {
 public:
  // Of new memory, which has no contents. Null if the device uses the host's memory.
  static std::unique_ptr<Residency> of(void* memory, size_t bytes);
  // `counted`: its copies are part of transfer_statistics().
  Residency(void* memory, size_t bytes, DeviceMemory& device, bool counted = true);

  // Makes the bytes [first, first + count) current for the host.
  void prepare_host(MTL::HostAccess access, size_t first, size_t count);
  // The host may access the memory between any two command buffers.
  void begin_sharing();
  void end_sharing();

  // Whether the host may access the memory between command buffers.
  bool is_shared();

  // Makes the device's copy current, in order with the launches of the buffer's stream, of which
  // the next one uses it. Returns whether settle() must be called when the command buffer has
  // ended.
  bool prepare_launch(const Transfers& buffer, bool writes);
  void settle(const Transfers& buffer);

  void* counterpart(void* address) const { return device_.counterpart(address); }

 private:
  enum class Current { Neither, Host, Device, Both };

  void download(size_t first, size_t count);

  std::mutex mutex_;
  void* memory_;
  size_t bytes_;
  DeviceMemory& device_;
  const bool counted_;
  Current current_ = Current::Neither;
  uint32_t sharers_ = 0;
  // Of the command buffer for which it is copied to the device. Launches of other streams are not
  // in order with that.
  const Transfers* uploader_ = nullptr;
};

// A buffer that a launch uses.
struct BufferUse {
  Residency* residency;
  uint32_t index;  // of its binding
  bool writes;
};

std::vector<BufferUse> buffer_uses(const Kernel& kernel,
                                   Residency* const (&residencies)[kMaxBufferBindings]);

// The copies that the launches of one command buffer need.
class Transfers {
 public:
  // `on_device`: the stream's kernels access the device's memory, not the host's.
  Transfers(Stream& stream, bool on_device) : stream_(stream), on_device_(on_device) {}
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;

  Stream& stream() const { return stream_; }
  // Makes buffers current where the kernel accesses them, and passes addresses of that memory.
  void prepare(const std::vector<BufferUse>& uses, LaunchParameters& parameters);
  void settle();  // when the command buffer has ended
  void finish();  // waits for the stream, and settles

 private:
  Stream& stream_;
  const bool on_device_;
  std::vector<Residency*> unsettled_;
};

}  // namespace metal::host
