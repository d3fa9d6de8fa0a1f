// The driver that runs kernels on an NVIDIA GPU.
#pragma once

#include "metal/driver.h"

namespace metal::cuda {

// Throws std::runtime_error, which gives the reason, if no GPU can be used.
Driver& cuda_driver();

}  // namespace metal::cuda
