// For extensions made for MLX: the devices of type cpu.
#pragma once

#include "mlx/device.h"

namespace mlx::core::cpu {

inline bool is_available() { return core::is_available(Device::cpu); }
inline int device_count() { return core::device_count(Device::cpu); }
inline const auto& device_info(int index = 0) {
  return core::device_info(Device(Device::cpu, index));
}

}  // namespace mlx::core::cpu
