// A CPU that behaves like GPUs with memories of their own. Tests use it to find accesses to memory
// that is not current.
#pragma once

#include <cstddef>

#include "metal/driver.h"

namespace metal::cpu {

// Runs kernels as cpu_driver() does, but in other memory than the host's. It makes no checks.
// To be called once for each device, as these exist until the process ends.
Driver& open_discrete_device(size_t number);
inline constexpr size_t kDiscreteDevices = 2;

}  // namespace metal::cpu
