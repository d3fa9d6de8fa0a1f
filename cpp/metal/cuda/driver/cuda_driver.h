// The drivers that run kernels on NVIDIA GPUs.
#pragma once

#include "metal/driver.h"

namespace metal::cuda {

// Both throw std::runtime_error, which gives the reason, if no GPU can be used, or not this one.
size_t gpu_count();
// To be called once for each GPU: its memory and queues exist until the process ends.
Driver& open_gpu(size_t number);

}  // namespace metal::cuda
