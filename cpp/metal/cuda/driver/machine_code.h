// Finds a kernel's machine code for this GPU in the cache on disk, or lets the driver make it.
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

// Throws CompileError, with the driver's message, if the driver cannot make it.
MachineCode find_machine_code(const Gpu& gpu, const FunctionInfo& function,
                              const ConstantValues& constants, const LaunchForm& form);

}  // namespace metal::cuda
