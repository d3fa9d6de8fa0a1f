// The screen of barriers: threads that have reached other barriers than the first one that ended.
#pragma once

#include "metal/cpu/checks/check_builder.h"

namespace metal::cpu {

// Each thread keeps a number for the barriers that it has reached, and compares it at its end with
// that of the threads of its threadgroup and of its SIMD-group which ended before.
void screen_barriers(CheckBuilder& builder);

}  // namespace metal::cpu
