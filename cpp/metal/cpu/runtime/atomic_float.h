// The calls that make atomic additions to floats, under locks.
#pragma once

#include <cstdint>

#include "metal/cpu/abi.h"

extern "C" {

// Returns the old value.
float metal_cpu_atomic_add_f32(const metal::cpu::Group* group, float* place, float value);

// row[i] += addends[i] for the bits i that are set in `lanes`.
void metal_cpu_atomic_add_row_f32(const metal::cpu::Group* group, float* row, const float* addends,
                                  uint64_t lanes);
}
