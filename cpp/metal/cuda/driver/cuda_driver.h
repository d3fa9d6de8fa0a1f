// An NVIDIA GPU as a Metal device.
#pragma once

#include "metal/driver.h"

namespace metal::cuda {

// Throws std::runtime_error, which says why, where no GPU can be used.
Driver& cuda_driver();

}  // namespace metal::cuda
