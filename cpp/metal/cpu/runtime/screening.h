// Launches of checked kernels.
#pragma once

#include "metal/driver.h"

namespace metal::cpu {

struct CpuKernel;

struct CheckedCode {
  const CpuKernel* exact;    // null if order is all that is checked
  const CpuKernel* screen;   // may be null
  const CpuKernel* ordered;  // for the check of order, else null
};

// The kernel's screen runs first. Where that suspects something, what the kernel may have written
// is put back, and the exact checks run. If nothing is wrong, the check of order follows. Throws
// what Dispatch::run throws.
void run_checked(const Kernel& kernel, const CheckedCode& code, const LaunchParameters& parameters);

}  // namespace metal::cpu
