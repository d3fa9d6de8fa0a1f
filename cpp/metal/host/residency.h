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
  // Of new memory, which has no contents. Null if devices use the host's memory.
  static std::unique_ptr<Residency> of(void* memory, size_t bytes);
  // `counted`: its copies are part of transfer_statistics().
  Residency(void* memory, size_t bytes, bool counted = true)
      : memory_(memory), bytes_(bytes), counted_(counted) {}

  // Makes the bytes [first, first + count) current for the host.
  void prepare_host(MTL::HostAccess access, size_t first, size_t count);
  // The host may access the memory between any two command buffers.
  void begin_sharing();
  void end_sharing();

  // Whether the host may access the memory between command buffers.
  bool is_shared();

  // Makes the copy of the command buffer's device current, in order with the launches of its
  // stream, of which the next one uses it. Returns whether settle() must be called when the command
  // buffer has ended.
  bool prepare_launch(const Transfers& buffer, bool writes);
  // Where the next launch of the command buffer's stream, which only reads the contents, finds them
  // at this place of the memory. Null if they must be made current on the device for that: it has
  // them, or they are not small.
  void* constant_copy(const Transfers& buffer, const void* place);
  void settle(const Transfers& buffer);

 private:
  bool is_current_on(const DeviceMemory& device) const;
  bool is_being_copied_to(const Transfers& buffer) const;
  bool has_copied(const Transfers& buffer) const;
  void copy_to(const Transfers& buffer);
  void download(size_t first, size_t count);
  void make_host_current();
  void move_to_host();

  std::mutex mutex_;
  void* memory_;
  size_t bytes_;
  const bool counted_;
  // The copies that are current: none of new memory.
  bool on_host_ = false;
  DeviceMemory* device_ = nullptr;     // the first device that has it; null if none has
  std::vector<DeviceMemory*> others_;  // devices that have it, too
  uint32_t sharers_ = 0;
  // The command buffers for which it is copied to their devices. Launches of other streams are not
  // in order with that.
  std::vector<const Transfers*> copying_;
};

// A buffer that a launch uses.
struct BufferUse {
  Residency* residency;
  uint32_t index;  // of its binding
  bool writes;
  bool from_bytes;  // setBytes has passed it
};

// The uses of a launch, without those of the buffers that it takes by value. `from_bytes`: those
// that setBytes has passed, as bits.
std::vector<BufferUse> buffer_uses(const Kernel& kernel, uint32_t by_value, uint32_t from_bytes,
                                   Residency* const (&residencies)[kMaxBufferBindings]);

// The copies that the launches of one command buffer need.
class Transfers {
 public:
  // `device`: the memory that the stream's kernels access; null for the host's.
  Transfers(Stream& stream, DeviceMemory* device) : stream_(stream), device_(device) {}
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;

  Stream& stream() const { return stream_; }
  DeviceMemory* device() const { return device_; }
  // Makes buffers current where the kernel accesses them, and passes addresses of that memory.
  void prepare(const std::vector<BufferUse>& uses, LaunchParameters& parameters);
  // Counts a new one. Null if there is none.
  void* copy_constant(const void* bytes, size_t count, bool counted) const;
  void settle();  // when the command buffer has ended
  void finish();  // waits for the stream, and settles

 private:
  void* constant_copy(const BufferUse& use, const std::vector<BufferUse>& uses,
                      const LaunchParameters& parameters) const;

  Stream& stream_;
  DeviceMemory* const device_;
  std::vector<Residency*> unsettled_;
};

}  // namespace metal::host
