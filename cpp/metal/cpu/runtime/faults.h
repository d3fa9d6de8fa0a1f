// Signals that kernel code raises, and the one that stops it.
#pragma once

namespace metal::cpu {

// Once per process.
void install_fault_handlers();

}  // namespace metal::cpu
