// What a Mac refuses of a kernel and its launch: the check "apple".
#pragma once

#include "metal/checks.h"
#include "mlx/fast/metal_kernel/custom_kernel.h"

namespace mlx::core::fast {

// Reports of the kernel's source, its name and its grid.
std::vector<::metal::CheckReport> check_for_apple(const KernelLaunch& launch);

}  // namespace mlx::core::fast
