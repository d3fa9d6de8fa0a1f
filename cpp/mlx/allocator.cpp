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
#include "mlx/device.h"
#include "mlx/errors.h"
#include "mlx/memory.h"

namespace mlx::core {

namespace allocator {

namespace {

thread_local bool addresses_only = false;

MTL::HostAccess access_for(MTL::HostAccess access) {
  return addresses_only ? MTL::HostAccess::Address : access;
}

class DeviceAllocator : public Allocator {
 public:
  Buffer malloc(size_t size) override {
    auto* buffer = device_->newBuffer(size, MTL::ResourceStorageModeShared);
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
    auto* buffer = device_->newBuffer(memory, size, MTL::ResourceStorageModeShared,
                                      [deleter](void* data, NS::UInteger) { deleter(data); });
    return Buffer(buffer);
  }

 private:
  MTL::Device* device_ = MTL::CreateSystemDefaultDevice();
};

}  // namespace

Allocator& allocator() {
  // Never destroyed: arrays may outlive static objects.
  static auto* instance = new DeviceAllocator();
  return *instance;
}

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

metal::Allocator& device_memory() { return metal::default_driver().allocator(); }

}  // namespace

size_t get_active_memory() { return device_memory().statistics().active; }
size_t get_peak_memory() { return device_memory().statistics().peak; }
void reset_peak_memory() { device_memory().reset_peak(); }
size_t get_cache_memory() { return device_memory().statistics().cache; }
size_t set_memory_limit(size_t limit) { return device_memory().set_memory_limit(limit); }
size_t get_memory_limit() { return device_memory().memory_limit(); }
bool over_memory_limit() { return device_memory().over_limit(); }
size_t set_cache_limit(size_t limit) { return device_memory().set_cache_limit(limit); }
void clear_cache() { device_memory().clear_cache(); }

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
