// Machine code of a kernel for the GPU at hand, from the cache on disk or made by the driver.
#pragma once

#include <string>

#include "metal/compiler/compiler.h"
#include "metal/cuda/driver/gpu.h"
#include "metal/cuda/kernel_interface.h"

namespace metal::cuda {

struct MachineCode {
  std::string bytes;  // a cubin
  KernelInterface interface;
};

// Throws CompileError where there is none, with what the driver says.
MachineCode find_machine_code(const Gpu& gpu, const FunctionInfo& function,
                              const ConstantValues& constants, const LaunchForm& form);

}  // namespace metal::cuda
