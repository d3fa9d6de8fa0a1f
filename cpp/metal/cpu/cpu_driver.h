// The CPU as a Metal device.
#pragma once

#include <memory>
#include <string_view>

#include "metal/driver.h"

namespace metal::cpu {

struct CpuKernel;

Driver& cpu_driver();

// A kernel from code that is already there, as load() makes it from a program.
std::shared_ptr<const Kernel> make_kernel(std::shared_ptr<CpuKernel> code, FunctionInfo info,
                                          std::string_view name);

}  // namespace metal::cpu
