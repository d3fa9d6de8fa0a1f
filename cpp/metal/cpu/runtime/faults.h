// Signals that kernel code raises, and the one that stops it.
#pragma once

#include <string>

#include "metal/cpu/runtime/worker.h"
#include "metal/driver.h"
#include "metal/sanitizers.h"

namespace metal::cpu {

// Once per process.
void install_fault_handlers();

LaunchFault launch_fault(const Fault& fault);
std::string describe(const Fault& fault);

}  // namespace metal::cpu
