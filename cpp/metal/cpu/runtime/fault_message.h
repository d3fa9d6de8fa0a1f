// The error message for a kernel that was aborted.
#pragma once

#include <cstdint>
#include <string>

#include "metal/cpu/abi.h"
#include "metal/cpu/runtime/worker.h"
#include "metal/driver.h"

namespace metal::cpu {

// Where the fault happened.
struct FaultScene {
  const FunctionInfo& function;
  const LaunchParameters& parameters;
  const Group& group;           // several of the author's, if the launch has larger threadgroups
  uint64_t threadgroup_memory;  // bytes
};

LaunchFault launch_fault(const Fault& fault);

// Says what happened, at which address, near which memory, and in which thread if that is known.
// Not for signal handlers.
std::string describe(const Fault& fault, const FaultScene& scene);

}  // namespace metal::cpu
