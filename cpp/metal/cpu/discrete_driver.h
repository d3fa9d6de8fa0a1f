// A CPU that behaves like a GPU with memory of its own. Tests use it to find accesses of the host
// to memory that is not current.
#pragma once

#include "metal/driver.h"

namespace metal::cpu {

// Runs kernels as cpu_driver() does, but in other memory than the host's. It makes no checks.
Driver& discrete_driver();

}  // namespace metal::cpu
