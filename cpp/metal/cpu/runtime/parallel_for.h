// Loops that run on all cores.
#pragma once

#include <cstddef>
#include <functional>

#include "metal/api.h"

namespace metal::cpu {

// Calls body(first, last) for parts of [0, n) that are at least `grain` long, on all idle cores,
// and returns when all have ended. May be nested.
METAL_API void parallel_for(size_t n, size_t grain,
                            const std::function<void(size_t, size_t)>& body);

}  // namespace metal::cpu
