// The check of order: whether the results of a launch depend on which threads run first.
#pragma once

#include "metal/cpu/runtime/snapshot.h"
#include "metal/driver.h"

namespace metal::cpu {

struct CpuKernel;

// Runs the launch in the natural order, whose results it leaves, and in those of its schedules,
// from what was in memory `before`. The code is that of kCheckOrder alone. Reports reach the
// launch's handler, which may throw; faults of the natural order are thrown as by Dispatch::run.
void check_order(const Kernel& kernel, const CpuKernel& code, const LaunchParameters& parameters,
                 const Snapshot& before);

// Throws std::runtime_error if a snapshot that the check needs is not complete.
void require_copies(const Kernel& kernel, const Snapshot& snapshot);

}  // namespace metal::cpu
