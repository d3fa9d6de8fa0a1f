// The device object and its buffers.
#pragma once

#include <Metal/Device.hpp>
#include <atomic>
#include <memory>

#include "metal/driver.h"
#include "metal/host/residency.h"

namespace metal::host {

class BufferObject : public MTL::Buffer {
 public:
  // Memory from the driver's allocator, or foreign memory with a deallocator, which may be empty.
  BufferObject(MTL::Device* device, void* memory, NS::UInteger length);
  BufferObject(MTL::Device* device, void* memory, NS::UInteger length,
               MTL::BufferDeallocator deallocator);

  MTL::Device* device() const override { return device_; }
  void* contents() override;
  NS::UInteger length() const override { return length_; }
  NS::UInteger allocatedSize() const override;
  void* hostContents(MTL::HostAccess access, NS::UInteger first, NS::UInteger count) override;
  void beginSharing() override;
  void endSharing() override;
  void* address() const { return memory_; }
  // Null if the device uses the host's memory.
  Residency* residency() const { return residency_.get(); }

 protected:
  ~BufferObject() override;

 private:
  MTL::Device* device_;
  void* memory_;
  NS::UInteger length_;
  bool borrowed_;
  MTL::BufferDeallocator deallocator_;
  std::unique_ptr<Residency> residency_;
  std::atomic<bool> contents_known_{false};  // somebody may have kept what contents() returned
};

class DeviceObject : public MTL::Device {
 public:
  explicit DeviceObject(Driver& driver);

  Driver& driver() const { return driver_; }
  NS::String* name() const override { return name_.get(); }
  MTL::Size maxThreadsPerThreadgroup() const override;
  NS::UInteger maxThreadgroupMemoryLength() const override { return kMaxThreadgroupMemory; }
  NS::UInteger maxBufferLength() const override;
  NS::UInteger recommendedMaxWorkingSetSize() const override;
  NS::UInteger currentAllocatedSize() const override;
  bool hasUnifiedMemory() const override { return !driver_.device_memory(); }
  std::uint64_t registryID() const override { return 1; }

  MTL::Buffer* newBuffer(NS::UInteger length, MTL::ResourceOptions options) override;
  MTL::Buffer* newBuffer(const void* bytes, NS::UInteger length,
                         MTL::ResourceOptions options) override;
  MTL::Buffer* newBuffer(void* memory, NS::UInteger length, MTL::ResourceOptions options,
                         MTL::BufferDeallocator deallocator) override;
  MTL::Library* newLibrary(const NS::String* source, const MTL::CompileOptions* options,
                           NS::Error** error) override;
  MTL::Library* newLibrary(const NS::String* path, NS::Error** error) override;
  MTL::Library* newLibrary(const NS::URL* url, NS::Error** error) override;
  MTL::ComputePipelineState* newComputePipelineState(const MTL::Function* function,
                                                     NS::Error** error) override;
  MTL::CommandQueue* newCommandQueue() override;

 private:
  Driver& driver_;
  NS::SharedPtr<NS::String> name_;
};

// The driver whose kernels the device runs.
inline Driver& driver_of(MTL::Device* device) {
  return static_cast<DeviceObject*>(device)->driver();
}

}  // namespace metal::host
