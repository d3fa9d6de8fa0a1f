// The device object and its buffers.
#include "metal/host/device.h"

#include <cstring>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "metal/compiler/compiler.h"
#include "metal/driver.h"
#include "metal/host/errors.h"
#include "metal/host/library.h"
#include "metal/host/queue.h"

namespace metal {

namespace host {

BufferObject::BufferObject(MTL::Device* device, void* memory, NS::UInteger length)
    : device_(device),
      memory_(memory),
      length_(length),
      borrowed_(false),
      residency_(Residency::of(memory, length)) {}

BufferObject::BufferObject(MTL::Device* device, void* memory, NS::UInteger length,
                           MTL::BufferDeallocator deallocator)
    : device_(device),
      memory_(memory),
      length_(length),
      borrowed_(true),
      deallocator_(std::move(deallocator)) {}

BufferObject::~BufferObject() {
  if (!borrowed_) {
    allocator_of(driver_of(device_)).deallocate(memory_);
  } else if (deallocator_) {
    deallocator_(memory_, length_);
  }
}

void* BufferObject::contents() {
  if (residency_ && !contents_known_.exchange(true)) residency_->begin_sharing();
  return memory_;
}

void* BufferObject::hostContents(MTL::HostAccess access, NS::UInteger first, NS::UInteger count) {
  if (residency_) residency_->prepare_host(access, first, count);
  return memory_;
}

void BufferObject::beginSharing() {
  if (residency_) residency_->begin_sharing();
}

void BufferObject::endSharing() {
  if (residency_) residency_->end_sharing();
}

NS::UInteger BufferObject::allocatedSize() const {
  return borrowed_ ? length_ : allocator_of(driver_of(device_)).allocated_size(memory_);
}

DeviceObject::DeviceObject(Driver& driver) : driver_(driver) {
  const std::string& name = driver_.info().name;
  name_ = NS::TransferPtr(NS::String::alloc()->init(name.c_str(), NS::UTF8StringEncoding));
}

MTL::Size DeviceObject::maxThreadsPerThreadgroup() const {
  constexpr NS::UInteger kMax = kMaxThreadsPerThreadgroup;
  return {kMax, kMax, kMax};
}

NS::UInteger DeviceObject::maxBufferLength() const { return driver_.info().max_buffer_length; }

NS::UInteger DeviceObject::recommendedMaxWorkingSetSize() const {
  return driver_.info().recommended_working_set;
}

NS::UInteger DeviceObject::currentAllocatedSize() const {
  return allocator_of(driver_).statistics().active;
}

MTL::Buffer* DeviceObject::newBuffer(NS::UInteger length, MTL::ResourceOptions) {
  void* memory = allocator_of(driver_).allocate(length);
  return memory ? new BufferObject(this, memory, length) : nullptr;
}

MTL::Buffer* DeviceObject::newBuffer(const void* bytes, NS::UInteger length,
                                     MTL::ResourceOptions options) {
  MTL::Buffer* buffer = newBuffer(length, options);
  if (buffer && length) {
    std::memcpy(buffer->hostContents(MTL::HostAccess::Write, 0, length), bytes, length);
  }
  return buffer;
}

MTL::Buffer* DeviceObject::newBuffer(void* memory, NS::UInteger length, MTL::ResourceOptions,
                                     MTL::BufferDeallocator deallocator) {
  if (!memory || default_driver().device_memory()) return nullptr;
  return new BufferObject(this, memory, length, std::move(deallocator));
}

MTL::Library* DeviceObject::newLibrary(const NS::String* source, const MTL::CompileOptions* options,
                                       NS::Error** error) {
  try {
    return new LibraryObject(this, metal::compile(source->utf8String(), compile_options(options)));
  } catch (...) {
    set_error_from_exception(error, kLibraryDomain, MTL::LibraryErrorCompileFailure);
    return nullptr;
  }
}

MTL::Library* DeviceObject::newLibrary(const NS::String* path, NS::Error** error) {
  try {
    return new LibraryObject(this, open_library(path->utf8String()));
  } catch (...) {
    set_error_from_exception(error, kLibraryDomain, MTL::LibraryErrorFileNotFound);
    return nullptr;
  }
}

MTL::Library* DeviceObject::newLibrary(const NS::URL* url, NS::Error** error) {
  return newLibrary(url->path(), error);
}

MTL::ComputePipelineState* DeviceObject::newComputePipelineState(const MTL::Function* function,
                                                                 NS::Error** error) {
  try {
    if (!function) throw std::invalid_argument("[newComputePipelineState] function is null");
    const auto* object = static_cast<const FunctionObject*>(function);
    return new PipelineObject(this, object->load(driver_, kNoChecks), object);
  } catch (...) {
    set_error_from_exception(error, kPipelineDomain, MTL::LibraryErrorInternal);
    return nullptr;
  }
}

MTL::CommandQueue* DeviceObject::newCommandQueue() { return new QueueObject(this, driver_); }

}  // namespace host
}  // namespace metal

namespace MTL {

Device* CreateDevice(NS::UInteger number) {
  static std::mutex mutex;
  static auto& devices = *new std::vector<Device*>(metal::device_count());
  const std::lock_guard lock(mutex);
  Device*& device = devices.at(number);
  if (!device) device = new metal::host::DeviceObject(metal::driver_of_device(number));
  return device->retain();
}

Device* CreateSystemDefaultDevice() { return CreateDevice(0); }

NS::Array* CopyAllDevices() {
  std::vector<NS::SharedPtr<Device>> devices;
  std::vector<const NS::Object*> objects;
  for (size_t i = 0; i < metal::device_count(); ++i) {
    objects.push_back(devices.emplace_back(NS::TransferPtr(CreateDevice(i))).get());
  }
  return NS::Array::array(objects.data(), objects.size())->retain();
}

Device* CreateHostDevice() {
  metal::Driver& driver = metal::host_driver();
  if (&driver == &metal::default_driver()) return CreateSystemDefaultDevice();
  static Device* device = new metal::host::DeviceObject(driver);
  return device->retain();
}

}  // namespace MTL
