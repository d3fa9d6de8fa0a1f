// The device: its limits, and functions that create all other objects.
#pragma once

#include <functional>

#include "Metal/Types.hpp"

#pragma GCC visibility push(default)
namespace MTL {

class CommandQueue;
class CompileOptions;
class ComputePipelineState;
class Device;
class Function;
class Library;

// Called with the pointer and length of a no-copy buffer when nothing uses it any more.
using BufferDeallocator = std::function<void(void*, NS::UInteger)>;

// What the host does with a buffer's memory. Address: nothing yet, or write to new memory.
enum class HostAccess { Address, Read, Write };

class Buffer : public NS::Referencing<Buffer> {
 public:
  virtual Device* device() const = 0;
  // The host may use this memory at any time while no command buffer does.
  virtual void* contents() = 0;
  virtual NS::UInteger length() const = 0;
  virtual NS::UInteger allocatedSize() const = 0;
  // For managed storage, which there is not: the device sees what the host writes.
  void didModifyRange(NS::Range /*range*/) {}
  void setLabel(const NS::String* /*label*/) {}  // labels are for Apple's tools

  // Not in metal-cpp. A device with memory of its own copies a buffer between both memories when it
  // is used. `contents` and `beginSharing` make it copy each time that kernels use the buffer,
  // until `endSharing` has been called as often. `hostContents` makes it copy once: the host may
  // access the bytes [first, first + count) until kernels use the buffer again.
  virtual void* hostContents(HostAccess access, NS::UInteger first, NS::UInteger count) = 0;
  virtual void beginSharing() = 0;
  virtual void endSharing() = 0;
};

// Every new...() returns an object that the caller owns, or null with an autoreleased `*error`.
class Device : public NS::Referencing<Device> {
 public:
  virtual NS::String* name() const = 0;
  virtual Size maxThreadsPerThreadgroup() const = 0;
  virtual NS::UInteger maxThreadgroupMemoryLength() const = 0;
  virtual NS::UInteger maxBufferLength() const = 0;
  virtual NS::UInteger recommendedMaxWorkingSetSize() const = 0;
  virtual NS::UInteger currentAllocatedSize() const = 0;
  virtual bool hasUnifiedMemory() const = 0;
  virtual std::uint64_t registryID() const = 0;

  // Null if there is no memory. A length of 0 gives a buffer that can be bound.
  virtual Buffer* newBuffer(NS::UInteger length, ResourceOptions options) = 0;
  virtual Buffer* newBuffer(const void* bytes, NS::UInteger length, ResourceOptions options) = 0;
  virtual Buffer* newBuffer(void* memory, NS::UInteger length, ResourceOptions options,
                            BufferDeallocator deallocator) = 0;

  virtual Library* newLibrary(const NS::String* source, const CompileOptions* options,
                              NS::Error** error) = 0;
  virtual Library* newLibrary(const NS::String* path, NS::Error** error) = 0;
  virtual Library* newLibrary(const NS::URL* url, NS::Error** error) = 0;
  virtual ComputePipelineState* newComputePipelineState(const Function* function,
                                                        NS::Error** error) = 0;
  virtual CommandQueue* newCommandQueue() = 0;
  // A queue takes any number of command buffers.
  CommandQueue* newCommandQueue(NS::UInteger /*max_command_buffers*/) { return newCommandQueue(); }
};

// Returns the same device at every call. The caller owns a reference.
Device* CreateSystemDefaultDevice();
// All devices of the default one's kind, that one first. The caller owns the array.
NS::Array* CopyAllDevices();

// Not in metal-cpp. One of them; the others need not be opened for it.
Device* CreateDevice(NS::UInteger number);

// Not in metal-cpp. The device whose kernels the host runs. It has the default device's buffers.
// Each device's queues run the others' pipelines and use their buffers. It is the default device
// unless that has memory of its own.
Device* CreateHostDevice();

}  // namespace MTL
#pragma GCC visibility pop
