// Loops on the host that run on all cores.
#pragma once

#include <cstddef>
#include <functional>

namespace mlx::core::cpu {

// Calls body(first, last) for parts of [0, n) that are at least `grain` long, on all idle cores,
// and returns when all have ended. May be called inside tasks of a stream, and may be nested.
void parallel_for(size_t n, size_t grain, const std::function<void(size_t, size_t)>& body);

// The largest number of threads that share the work.
size_t parallel_width();

}  // namespace mlx::core::cpu
