// Additions to floats that wait until their worker makes them together, called from generated code.
#pragma once

#include "metal/cpu/abi.h"

extern "C" {

// Makes all that wait.
void metal_cpu_make_additions(const metal::cpu::Group* group);
}
