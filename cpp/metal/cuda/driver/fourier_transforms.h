// Fourier transforms on the GPU with cuFFT.
#pragma once

#include <memory>

#include "metal/fourier_transform.h"

namespace metal::cuda {

// Null if the library is not installed or does not support the transform. The GPU's context must be
// current, also when the plan ends.
std::shared_ptr<const FourierTransformPlan> plan_with_cufft(const FourierTransform& transform);

}  // namespace metal::cuda
