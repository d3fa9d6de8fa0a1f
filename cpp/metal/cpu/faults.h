// Signals that kernel code raises, and the one that stops it.
#pragma once

#include <csignal>
#include <string>

#include "metal/cpu/sanitizers.h"
#include "metal/cpu/worker.h"
#include "metal/driver.h"

namespace metal::cpu {

// Sent to a thread that runs a kernel of a stopped dispatch.
#ifdef METAL_TSAN
inline const int kStopSignal = SIGSYS;  // ThreadSanitizer delays others until the next system call
#else
inline const int kStopSignal = SIGRTMAX - 5;
#endif

// Once per process; signals that come neither from kernel code nor from the compiler go to whoever
// handled them before.
void install_fault_handlers();

LaunchFault launch_fault(const Fault& fault);
std::string describe(const Fault& fault);

}  // namespace metal::cpu
