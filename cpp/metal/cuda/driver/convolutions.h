// Convolutions on the GPU with cuDNN.
#pragma once

#include <memory>

#include "metal/convolution.h"
#include "metal/cuda/driver/gpu.h"

namespace metal::cuda {

// Null if the library is not installed or does not support the convolution. The GPU's context must
// be current.
std::shared_ptr<const ConvolutionPlan> plan_with_cudnn(const Gpu& gpu,
                                                       const Convolution& convolution);

}  // namespace metal::cuda
