// Splits and packs a launch for the GPU.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "metal/cuda/kernel_interface.h"
#include "metal/driver.h"

namespace metal::cuda {

// The blocks of one launch on the GPU, in three dimensions.
struct GridPart {
  std::array<uint32_t, 3> first;
  std::array<uint32_t, 3> blocks;
};

// Whether the GPU's limits allow the whole grid in one launch.
bool fits_in_one_part(const LaunchParameters& parameters);

// Calls `each` for the parts of the grid, each of which the GPU's limits allow. A thread runs
// `at_once` threads of the kernel, side by side in x.
void for_each_part(const LaunchParameters& parameters, uint32_t at_once,
                   const std::function<void(const GridPart&)>& each);

// Packs the values of a kernel's parameters, each at its offset.
std::string pack_parameters(const KernelInterface& interface, const LaunchParameters& parameters,
                            const GridPart& part);

uint32_t dynamic_threadgroup_memory(const LaunchParameters& parameters);  // bytes

}  // namespace metal::cuda
