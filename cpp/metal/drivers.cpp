// The drivers of this build, and what they have in common.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>

#include "metal/compiler_library.h"
#include "metal/cpu/cpu_driver.h"
#include "metal/cpu/discrete_driver.h"
#include "metal/cuda/driver/cuda_driver.h"
#include "metal/driver.h"

namespace metal {
namespace {

// Devices of one kind.
struct DeviceKind {
  size_t count;
  Driver& (*open)(size_t number);
};

DeviceKind choose_kind() {
  const char* given = std::getenv("MLX_METAL_DEVICE");
  const std::string device = given && *given ? given : "cpu";
  if (device == "cpu") return {1, [](size_t) -> Driver& { return cpu::cpu_driver(); }};
  if (device == "cuda") return {cuda::gpu_count(), cuda::open_gpu};
  if (device == "discrete") return {cpu::kDiscreteDevices, cpu::open_discrete_device};
  throw std::invalid_argument("MLX_METAL_DEVICE is '" + device + "': expected cpu or cuda");
}

const DeviceKind& device_kind() {
  static const DeviceKind kind = choose_kind();
  return kind;
}

constexpr size_t kMaxDevices = 64;
std::array<std::atomic<Driver*>, kMaxDevices> opened;

}  // namespace

void Stream::start(const LibraryCall& call, const LaunchParameters&) {
  throw std::logic_error("[" + call.name + "] the device has no library for this");
}

void Stream::upload(void*, size_t) {
  throw std::logic_error("[Stream::upload] the device has no memory of its own");
}

void Stream::copy_from(DeviceMemory&, void*, size_t) {
  throw std::logic_error("[Stream::copy_from] the device has no memory of its own");
}

void Stream::wait_for(uint64_t, const std::function<void()>&) { wait(); }

void refuse_checks(Checks checks, std::string_view label) {
  if (checks == kNoChecks) return;
  throw std::invalid_argument("[" + std::string(label) +
                              "] Checks of kernels run on the CPU only: unset MLX_METAL_DEVICE");
}

size_t device_count() { return std::min(device_kind().count, kMaxDevices); }

Driver& driver_of_device(size_t number) {
  if (Driver* driver = opened.at(number).load(std::memory_order_acquire)) return *driver;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (!opened[number].load()) opened[number].store(&device_kind().open(number));
  return *opened[number].load();
}

Driver& default_driver() { return driver_of_device(0); }

std::vector<Driver*> open_drivers() {
  std::vector<Driver*> drivers;
  for (const std::atomic<Driver*>& driver : opened) {
    if (Driver* open = driver.load(std::memory_order_acquire)) drivers.push_back(open);
  }
  return drivers;
}

Driver& host_driver() {
  Driver& driver = default_driver();
  return driver.device_memory() ? cpu::cpu_driver() : driver;
}

Allocator& allocator_of(Driver& driver) {
  return driver.device_memory() ? driver.allocator() : default_driver().allocator();
}

std::string emit(const Program& program, std::string_view form, std::string_view architecture) {
  return compiler_library().emit(program, form, architecture);
}

}  // namespace metal
