// Turns kernel form into PTX, the assembly language of NVIDIA GPUs.
#pragma once

#include <string>
#include <string_view>

#include "metal/compiler/compiler.h"
#include "metal/cuda/kernel_interface.h"

namespace metal::cuda {

struct PtxCode {
  std::string text;
  KernelInterface interface;
};

inline constexpr std::string_view kDefaultArchitecture = "sm_80";

// PTX of the lowest version that `architecture` has. Throws std::invalid_argument for architectures
// that are older than sm_80 or unknown.
PtxCode generate_ptx(const FunctionInfo& function, const ConstantValues& constants,
                     std::string_view architecture = kDefaultArchitecture);

// The same of several kernels, in one module; function constants are zero.
std::string print_ptx(const std::vector<FunctionInfo>& functions, std::string_view architecture);

}  // namespace metal::cuda
