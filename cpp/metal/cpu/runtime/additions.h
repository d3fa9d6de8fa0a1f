// Generated code calls this for atomic additions to floats that a worker collects and makes later.
#pragma once

#include "metal/cpu/abi.h"

extern "C" {

// Makes all that wait.
void metal_cpu_make_additions(const metal::cpu::Group* group);
}
