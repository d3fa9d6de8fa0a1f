// Matrix products on the GPU with cuBLASLt.
#pragma once

#include <memory>

#include "metal/cuda/driver/gpu.h"
#include "metal/matrix_product.h"

namespace metal::cuda {

// Null if the library is not installed or does not support the product. The GPU's context must be
// current.
std::shared_ptr<const MatrixProductPlan> plan_with_cublas(const Gpu& gpu,
                                                          const MatrixProduct& product);

}  // namespace metal::cuda
