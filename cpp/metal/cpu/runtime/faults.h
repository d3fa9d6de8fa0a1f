// Handlers for the signals that kernel code raises, and for the one that stops it.
#pragma once

namespace metal::cpu {

// Must be called once per process.
void install_fault_handlers();

}  // namespace metal::cpu
