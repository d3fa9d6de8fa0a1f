// The drivers of this build, and what they have in common.
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "metal/compiler_library.h"
#include "metal/cpu/cpu_driver.h"
#include "metal/cpu/discrete_driver.h"
#include "metal/cuda/driver/cuda_driver.h"
#include "metal/driver.h"

namespace metal {
namespace {

Driver& choose_driver() {
  const char* given = std::getenv("MLX_METAL_DEVICE");
  const std::string device = given && *given ? given : "cpu";
  if (device == "cpu") return cpu::cpu_driver();
  if (device == "cuda") return cuda::cuda_driver();
  if (device == "discrete") return cpu::discrete_driver();
  throw std::invalid_argument("MLX_METAL_DEVICE is '" + device + "': expected cpu or cuda");
}

}  // namespace

void Stream::start(const LibraryCall& call, const LaunchParameters&) {
  throw std::logic_error("[" + call.name + "] the device has no library for this");
}

void Stream::upload(void*, size_t) {
  throw std::logic_error("[Stream::upload] the device has no memory of its own");
}

void Stream::wait_for(uint64_t, const std::function<void()>&) { wait(); }

void refuse_checks(Checks checks, std::string_view label) {
  if (checks == kNoChecks) return;
  throw std::invalid_argument("[" + std::string(label) +
                              "] Checks of kernels run on the CPU only: unset MLX_METAL_DEVICE");
}

Driver& default_driver() {
  static Driver& driver = choose_driver();
  return driver;
}

Driver& host_driver() {
  Driver& driver = default_driver();
  return driver.device_memory() ? cpu::cpu_driver() : driver;
}

std::string emit(const Program& program, std::string_view form, std::string_view architecture) {
  return compiler_library().emit(program, form, architecture);
}

}  // namespace metal
