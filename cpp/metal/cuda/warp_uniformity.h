// Finds the values that the threads of a warp share.
#pragma once

#include "metal/compiler/uniformity.h"

namespace metal::cuda {

// For kernels that are launched, before and after their operations on SIMD-groups are lowered.
compiler::Uniformity find_warp_uniformity(llvm::Function& kernel);

}  // namespace metal::cuda
