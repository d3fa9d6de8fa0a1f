// Whether Metal kernels run here, and on what.
#pragma once

#include "mlx/standard_headers.h"

namespace mlx::core::metal {

bool is_available();

// Keys: architecture, device_name, memory_size, max_recommended_working_set_size,
// max_buffer_length, resource_limit.
const std::unordered_map<std::string, std::variant<std::string, size_t>>& device_info();

// How many kernels of this process run one thread at a time because they have no vector form.
size_t scalar_fallbacks();

// MLX loads its kernels from this file. Ours are compiled when they are needed: the path is kept,
// and nothing is read from it.
void set_metallib_path(const std::string& path);
const std::string& get_metallib_path();

// Captures exist only on Apple's systems: these functions check the path and do nothing else.
void start_capture(std::string path = "");
void stop_capture();

}  // namespace mlx::core::metal
