// Devices: gpu is the Metal device, cpu is the host.
#pragma once

#include "mlx/standard_headers.h"

namespace mlx::core {

struct Device {
  enum class DeviceType { cpu, gpu };

  static constexpr DeviceType cpu = DeviceType::cpu;
  static constexpr DeviceType gpu = DeviceType::gpu;

  constexpr Device(DeviceType type, int index = 0) : type(type), index(index) {}

  DeviceType type;
  int index;
};

const Device& default_device();
void set_default_device(const Device& d);

inline bool operator==(const Device& a, const Device& b) {
  return a.type == b.type && a.index == b.index;
}
inline bool operator!=(const Device& a, const Device& b) { return !(a == b); }
inline bool operator<(const Device& a, const Device& b) {
  return a.type != b.type ? a.type < b.type : a.index < b.index;
}

bool is_available(const Device& d);
int device_count(Device::DeviceType type);
const std::unordered_map<std::string, std::variant<std::string, size_t>>& device_info(
    const Device& d = default_device());

}  // namespace mlx::core
