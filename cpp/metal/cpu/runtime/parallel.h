// Runs a function on all cores.
#pragma once

#include <cstddef>

#include "metal/api.h"

namespace metal::cpu {

METAL_API size_t parallel_width();  // how many threads take part

// Calls function(context) `times` times, on as many threads as are idle. Returns when all calls
// have ended.
METAL_API void run_parallel(size_t times, void (*function)(void* context), void* context);

}  // namespace metal::cpu
