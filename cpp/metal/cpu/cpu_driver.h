// The driver that runs kernels on the CPU.
#pragma once

#include <memory>
#include <string_view>

#include "metal/driver.h"

namespace metal::cpu {

struct CpuKernel;

Driver& cpu_driver();

// Makes a kernel from code that is already loaded. load() makes one from a program.
std::shared_ptr<const Kernel> make_kernel(std::shared_ptr<CpuKernel> code, FunctionInfo info,
                                          std::string_view name);

}  // namespace metal::cpu
