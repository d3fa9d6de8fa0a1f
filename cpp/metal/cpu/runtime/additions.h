// The call that makes a worker's deferred atomic additions to floats.
#pragma once

#include "metal/cpu/abi.h"

extern "C" {

// Makes all deferred additions.
void metal_cpu_make_additions(const metal::cpu::Group* group);
}
