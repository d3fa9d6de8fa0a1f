// For extensions made for MLX: the devices of type gpu.
#pragma once

#include "mlx/device.h"

namespace mlx::core::gpu {

inline bool is_available() { return core::is_available(Device::gpu); }
inline int device_count() { return core::device_count(Device::gpu); }
inline const auto& device_info(int index = 0) {
  return core::device_info(Device(Device::gpu, index));
}

}  // namespace mlx::core::gpu
