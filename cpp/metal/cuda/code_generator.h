// Turns kernel form into PTX, the assembly language of NVIDIA GPUs.
#pragma once

#include <string>
#include <string_view>

#include "metal/compiler/compiler.h"
#include "metal/cuda/architectures.h"
#include "metal/cuda/kernel_interface.h"

namespace metal::cuda {

struct PtxCode {
  std::string text;
  KernelInterface interface;
};

// Generates code for an architecture that create_target() knows, and for launches of this form.
PtxCode generate_ptx(const FunctionInfo& function, const ConstantValues& constants,
                     std::string_view architecture = kDefaultArchitecture,
                     const LaunchForm& form = {});

// Prints the code of several kernels in one module. Function constants are zero.
std::string print_ptx(const std::vector<FunctionInfo>& functions, std::string_view architecture);

}  // namespace metal::cuda
