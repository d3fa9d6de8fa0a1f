// Attention on the GPU with cuDNN.
#pragma once

#include <memory>

#include "metal/attention.h"
#include "metal/cuda/driver/gpu.h"

namespace metal::cuda {

// Null if the library is not installed or does not support this kind. The GPU's context must be
// current.
std::shared_ptr<const AttentionPlan> plan_with_cudnn(const Gpu& gpu, const Attention& attention);

}  // namespace metal::cuda
