// Memory of arrays, taken from the Metal device, which keeps freed memory for reuse.
#include "mlx/allocator.h"

#include <Metal/Metal.hpp>
#include <atomic>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "metal/driver.h"
#include "mlx/array.h"
#include "mlx/backend/metal/device.h"
#include "mlx/device.h"
#include "mlx/errors.h"
#include "mlx/memory.h"

namespace mlx::core {

namespace allocator {

namespace {

thread_local bool addresses_only = false;
thread_local int gpu = -1;  // where this thread allocates; -1: at the default device's

MTL::HostAccess access_for(MTL::HostAccess access) {
  return addresses_only ? MTL::HostAccess::Address : access;
}

class DeviceAllocator : public Allocator {
 public:
  Buffer malloc(size_t size) override {
    auto* buffer = device().newBuffer(size, MTL::ResourceStorageModeShared);
    if (buffer == nullptr) {
      throw std::runtime_error("[malloc] Unable to allocate " + std::to_string(size) + " bytes.");
    }
    return Buffer(buffer);
  }

  void free(Buffer buffer) override {
    if (auto* b = static_cast<MTL::Buffer*>(buffer.ptr())) {
      b->release();
    }
  }

  size_t size(Buffer buffer) const override {
    auto* b = static_cast<MTL::Buffer*>(buffer.ptr());
    return b ? b->length() : 0;
  }

  Buffer wrap(void* memory, size_t size, const std::function<void(void*)>& deleter) override {
    auto* buffer = device().newBuffer(memory, size, MTL::ResourceStorageModeShared,
                                      [deleter](void* data, NS::UInteger) { deleter(data); });
    return Buffer(buffer);
  }

 private:
  MTL::Device& device() {
    const int index = !several_ ? 0 : gpu < 0 ? default_device().index : gpu;
    return index == 0 ? *first_ : *metal::mtl_device_of(Device(Device::gpu, index));
  }

  MTL::Device* first_ = MTL::CreateSystemDefaultDevice();
  const bool several_ = device_count(Device::gpu) > 1;
};

}  // namespace

Allocator& allocator() {
  // Never destroyed: arrays may outlive static objects.
  static auto* instance = new DeviceAllocator();
  return *instance;
}

Buffer make_buffer(void* memory, size_t size) {
  return allocator().wrap(memory, size, [](void*) {});
}

OnDevice::OnDevice(const Device& device)
    : before_(std::exchange(gpu, device.type == Device::gpu ? device.index : gpu)) {}

OnDevice::~OnDevice() { gpu = before_; }

AddressesOnly::AddressesOnly() : before_(std::exchange(addresses_only, true)) {}

AddressesOnly::~AddressesOnly() { addresses_only = before_; }

void* Buffer::raw_ptr() {
  auto* buffer = static_cast<MTL::Buffer*>(ptr_);
  return buffer ? buffer->hostContents(access_for(MTL::HostAccess::Write), 0, buffer->length())
                : nullptr;
}

const void* Buffer::read_ptr(size_t first, size_t count) const {
  auto* buffer = static_cast<MTL::Buffer*>(ptr_);
  return buffer ? buffer->hostContents(access_for(MTL::HostAccess::Read), first, count) : nullptr;
}

Buffer malloc(size_t size) { return allocator().malloc(size); }

void free(Buffer buffer) { allocator().free(buffer); }

}  // namespace allocator

namespace {

// Of the first GPU, or the host.
::metal::Allocator& first_memory() { return ::metal::default_driver().allocator(); }

using ::metal::MemoryStatistics;

size_t sum_over_devices(uint64_t MemoryStatistics::* figure) {
  size_t sum = 0;
  for (auto* driver : ::metal::open_drivers()) sum += driver->allocator().statistics().*figure;
  return sum;
}

}  // namespace

size_t get_active_memory() { return sum_over_devices(&MemoryStatistics::active); }
size_t get_peak_memory() { return sum_over_devices(&MemoryStatistics::peak); }
size_t get_cache_memory() { return sum_over_devices(&MemoryStatistics::cache); }
size_t set_memory_limit(size_t limit) { return first_memory().set_memory_limit(limit); }
size_t get_memory_limit() { return first_memory().memory_limit(); }
bool over_memory_limit() { return first_memory().over_limit(); }
size_t set_cache_limit(size_t limit) { return first_memory().set_cache_limit(limit); }

void reset_peak_memory() {
  for (auto* driver : ::metal::open_drivers()) driver->allocator().reset_peak();
}

void clear_cache() {
  for (auto* driver : ::metal::open_drivers()) driver->allocator().clear_cache();
}

size_t get_array_buffer_size(const std::vector<array>& arrays) {
  std::set<const void*> seen;
  size_t total = 0;
  for (const auto& a : arrays) {
    if (!a.is_available()) {
      invalid_argument("get_array_buffer_size", "The arrays must have been evaluated.");
    }
    const auto& data = a.data_shared_ptr();
    if (data && seen.insert(data->buffer.ptr()).second) {
      total += allocator::allocator().size(data->buffer);
    }
  }
  return total;
}

size_t set_wired_limit(size_t limit) {
  const auto& facts = device_info(Device::gpu);
  const auto most = std::get<size_t>(facts.at("max_recommended_working_set_size"));
  if (limit > most) {
    invalid_argument("set_wired_limit",
                     message("The limit must be at most ", most,
                             ", what the device recommends, but is ", limit, "."));
  }
  // Nothing is wired here; the limit is kept because programs read it back.
  static std::atomic<size_t> wired_limit{0};
  return wired_limit.exchange(limit);
}

}  // namespace mlx::core
