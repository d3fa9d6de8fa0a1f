#include "metal/cuda/driver/launch.h"

#include <algorithm>
#include <cstring>

namespace metal::cuda {
namespace {

constexpr uint64_t kMaxBlocks[] = {INT32_MAX, 65535, 65535};

uint64_t blocks_of(const LaunchParameters& parameters, int i, uint32_t at_once = 1) {
  const uint64_t size = uint64_t{parameters.threads_per_threadgroup[i]} * at_once;
  return (parameters.threads_per_grid[i] + size - 1) / size;
}

void put(std::string& bytes, const Parameter& parameter, uint64_t value) {
  std::memcpy(&bytes[parameter.offset], &value, parameter.size);  // both are little-endian
}

}  // namespace

bool fits_in_one_part(const LaunchParameters& parameters) {
  for (int i = 0; i < 3; ++i) {
    if (blocks_of(parameters, i) > kMaxBlocks[i]) return false;
  }
  return true;
}

void for_each_part(const LaunchParameters& parameters, uint32_t at_once,
                   const std::function<void(const GridPart&)>& each) {
  const uint64_t blocks[] = {blocks_of(parameters, 0, at_once), blocks_of(parameters, 1),
                             blocks_of(parameters, 2)};
  const auto part = [&](int i, uint64_t first) {
    return static_cast<uint32_t>(std::min(blocks[i] - first, kMaxBlocks[i]));
  };
  for (uint64_t z = 0; z < blocks[2]; z += kMaxBlocks[2]) {
    for (uint64_t y = 0; y < blocks[1]; y += kMaxBlocks[1]) {
      for (uint64_t x = 0; x < blocks[0]; x += kMaxBlocks[0]) {
        each({{static_cast<uint32_t>(x), static_cast<uint32_t>(y), static_cast<uint32_t>(z)},
              {part(0, x), part(1, y), part(2, z)}});
      }
    }
  }
}

std::string pack_parameters(const KernelInterface& interface, const LaunchParameters& parameters,
                            const GridPart& part) {
  std::string bytes(interface.parameter_bytes, '\0');
  uint32_t threadgroup_offset = 0;
  for (const Parameter& parameter : interface.parameters) {
    const uint32_t i = parameter.index;
    switch (parameter.kind) {
      case Parameter::Kind::Buffer:
        put(bytes, parameter, reinterpret_cast<uintptr_t>(parameters.buffers[i]));
        break;
      case Parameter::Kind::Value:
        std::memcpy(&bytes[parameter.offset], parameters.buffers[i],
                    std::min<uint64_t>(parameter.size, parameters.buffer_bytes[i]));
        break;
      case Parameter::Kind::ThreadgroupOffset:
        put(bytes, parameter, threadgroup_offset);
        threadgroup_offset += parameters.threadgroup_memory[i];
        break;
      case Parameter::Kind::ThreadsPerGrid:
        put(bytes, parameter, parameters.threads_per_grid[i]);
        break;
      case Parameter::Kind::FirstThreadgroup:
        put(bytes, parameter, part.first[i]);
        break;
      case Parameter::Kind::ThreadsPerThreadgroup:
        put(bytes, parameter, parameters.threads_per_threadgroup[i]);
        break;
    }
  }
  return bytes;
}

uint32_t dynamic_threadgroup_memory(const LaunchParameters& parameters) {
  uint32_t bytes = 0;
  for (uint32_t length : parameters.threadgroup_memory) bytes += length;
  return bytes;
}

}  // namespace metal::cuda
