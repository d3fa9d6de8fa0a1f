// Launches of checked kernels.
#pragma once

#include "metal/driver.h"

namespace metal::cpu {

struct CpuKernel;

// The kernel's screen runs first, unless it is null. Where that suspects something, what the kernel
// may have written is put back, and the exact checks run. Throws what Dispatch::run throws.
void run_checked(const Kernel& kernel, const CpuKernel& machine_code, const CpuKernel* screen,
                 const LaunchParameters& parameters);

}  // namespace metal::cpu
