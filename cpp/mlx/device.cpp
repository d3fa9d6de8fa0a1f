// Devices: the list of them, the default, and their properties.
#include "mlx/device.h"

#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <atomic>
#include <stdexcept>

#include "metal/driver.h"
#include "mlx/backend/metal/metal.h"

namespace mlx::core {

namespace {

using Info = std::unordered_map<std::string, std::variant<std::string, size_t>>;

std::atomic<Device::DeviceType>& default_type() {
  static std::atomic<Device::DeviceType> type{metal::is_available() ? Device::gpu : Device::cpu};
  return type;
}

Info host_info() {
  utsname system{};
  uname(&system);
  struct sysinfo memory{};
  sysinfo(&memory);
  return {{"architecture", std::string(system.machine)},
          {"device_name", std::string("cpu")},
          {"memory_size", static_cast<size_t>(memory.totalram) * memory.mem_unit}};
}

Info metal_info() {
  const auto& info = ::metal::default_driver().info();
  return {{"architecture", info.architecture},
          {"device_name", info.name},
          {"memory_size", static_cast<size_t>(info.memory_size)},
          {"max_buffer_length", static_cast<size_t>(info.max_buffer_length)},
          {"max_recommended_working_set_size", static_cast<size_t>(info.recommended_working_set)},
          {"resource_limit", static_cast<size_t>(0x7fffffff)}};
}

}  // namespace

const Device& default_device() {
  static const Device cpu{Device::cpu}, gpu{Device::gpu};  // there is one of each type
  return default_type().load() == Device::gpu ? gpu : cpu;
}

void set_default_device(const Device& d) {
  if (!is_available(d)) {
    throw std::invalid_argument(
        "[set_default_device] The device is not available on this machine.");
  }
  default_type() = d.type;
}

int device_count(Device::DeviceType type) {
  return type == Device::cpu || metal::is_available() ? 1 : 0;
}

bool is_available(const Device& d) { return d.index >= 0 && d.index < device_count(d.type); }

const Info& device_info(const Device& d) {
  if (!is_available(d)) {
    throw std::invalid_argument("[device_info] The device is not available on this machine.");
  }
  // Never destroyed: threads may still run while the process ends.
  static const Info& host = *new Info(host_info());
  static const Info& metal = *new Info(metal::is_available() ? metal_info() : Info{});
  return d.type == Device::cpu ? host : metal;
}

}  // namespace mlx::core
