// Finds NVIDIA's libraries that are no part of its driver: those of the system, and those in
// NVIDIA's Python packages.
#pragma once

#include <string>
#include <vector>

namespace metal::cuda {

// Handles of the libraries with this name, as dlopen gives them: the system's first. They are
// opened as they are asked for, and never closed. Empty if the environment variable
// MLX_CUDA_LIBRARIES is 0.
std::vector<void*> open_libraries(const std::string& name);

}  // namespace metal::cuda
