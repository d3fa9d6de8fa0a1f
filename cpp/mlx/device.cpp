// Devices: the list of them, the default, and their properties.
#include "mlx/device.h"

#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "metal/driver.h"
#include "mlx/backend/metal/metal.h"

namespace mlx::core {

namespace {

using Info = std::unordered_map<std::string, std::variant<std::string, size_t>>;

// The host, and then the GPUs. Never destroyed: threads may still run while the process ends.
const std::vector<Device>& all_devices() {
  static const auto& devices = *[] {
    auto* made = new std::vector<Device>{Device::cpu};
    for (int i = 0; i < device_count(Device::gpu); ++i) made->emplace_back(Device::gpu, i);
    return made;
  }();
  return devices;
}

std::atomic<const Device*>& the_default() {
  static std::atomic<const Device*> device{&all_devices().at(metal::is_available() ? 1 : 0)};
  return device;
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

Info gpu_info(int index) {
  const auto& info = ::metal::driver_of_device(static_cast<size_t>(index)).info();
  return {{"architecture", info.architecture},
          {"device_name", info.name},
          {"memory_size", static_cast<size_t>(info.memory_size)},
          {"max_buffer_length", static_cast<size_t>(info.max_buffer_length)},
          {"max_recommended_working_set_size", static_cast<size_t>(info.recommended_working_set)},
          {"resource_limit", static_cast<size_t>(0x7fffffff)}};
}

}  // namespace

const Device& default_device() { return *the_default().load(); }

void set_default_device(const Device& d) {
  if (!is_available(d)) {
    throw std::invalid_argument(
        "[set_default_device] The device is not available on this machine.");
  }
  the_default() = &*std::ranges::find(all_devices(), d);
}

int device_count(Device::DeviceType type) {
  if (type == Device::cpu) return 1;
  return metal::is_available() ? static_cast<int>(::metal::device_count()) : 0;
}

bool is_available(const Device& d) { return d.index >= 0 && d.index < device_count(d.type); }

const Info& device_info(const Device& d) {
  if (!is_available(d)) {
    throw std::invalid_argument("[device_info] The device is not available on this machine.");
  }
  static std::mutex mutex;
  static auto& known = *new std::map<Device, Info>;
  const std::lock_guard lock(mutex);
  auto found = known.find(d);
  if (found == known.end()) {
    found = known.emplace(d, d.type == Device::cpu ? host_info() : gpu_info(d.index)).first;
  }
  return found->second;
}

}  // namespace mlx::core
