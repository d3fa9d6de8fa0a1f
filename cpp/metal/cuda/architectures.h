// The architectures of NVIDIA's GPUs that code is generated for.
#pragma once

#include <string_view>

namespace metal::cuda {

struct Architecture {
  std::string_view name;
  int capability;  // 90 for compute capability 9.0
};

inline constexpr Architecture kArchitectures[] = {
    {"sm_80", 80}, {"sm_86", 86}, {"sm_87", 87}, {"sm_89", 89}, {"sm_90", 90}};

// The oldest one; later ones run its PTX, too.
inline constexpr std::string_view kDefaultArchitecture = kArchitectures[0].name;

// The newest one whose PTX a GPU of this capability can run, which is at least 80.
constexpr std::string_view newest_architecture(int capability) {
  std::string_view newest = kDefaultArchitecture;
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.capability <= capability) newest = architecture.name;
  }
  return newest;
}

}  // namespace metal::cuda
