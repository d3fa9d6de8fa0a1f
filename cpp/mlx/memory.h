// Statistics and limits of the memory that arrays use. Statistics are sums over all GPUs; limits
// are the first one's.
#pragma once

#include <cstddef>
#include <vector>

namespace mlx::core {

class array;

size_t get_active_memory();
size_t get_peak_memory();
void reset_peak_memory();
size_t get_cache_memory();

// The bytes of the buffers that hold evaluated arrays. A shared buffer counts once.
size_t get_array_buffer_size(const std::vector<array>& arrays);

// Each returns the previous limit. The memory limit is a guideline: above it, evaluation waits for
// work in flight, and freed memory is not kept. Allocations fail only when the machine's memory is
// used up.
size_t set_memory_limit(size_t limit);
size_t set_cache_limit(size_t limit);
size_t set_wired_limit(size_t limit);
size_t get_memory_limit();
bool over_memory_limit();  // whether arrays use more than the memory limit

// Returns the freed buffers that are kept for reuse to the system.
void clear_cache();

}  // namespace mlx::core
