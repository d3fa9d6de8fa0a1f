// Registers the drivers of this build, and the functions that show the code of kernels for their
// devices.
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/guarded_thread.h"
#include "metal/compiler/ir_text.h"
#include "metal/cpu/codegen/code_generator.h"
#include "metal/cpu/cpu_driver.h"
#include "metal/cpu/discrete_driver.h"
#include "metal/cuda/code_generator.h"
#include "metal/cuda/driver/cuda_driver.h"
#include "metal/driver.h"

namespace metal {
namespace {

std::string emit_function(const FunctionInfo& function, std::string_view form) {
  if (form == "llvm-opt" || form == "asm") return cpu::print_code(function, form, {256, 1, 1});
  if (form != "llvm") {
    throw std::invalid_argument("--emit " + std::string(form) +
                                ": expected llvm, llvm-opt, asm or ptx");
  }
  llvm::LLVMContext context;
  return compiler::print_ir(*compiler::read_bitcode(function.bitcode, context));
}

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
  std::string text;
  compiler::run_guarded([&] {
    if (form == "ptx") {
      text = cuda::print_ptx(program.functions,
                             architecture.empty() ? cuda::kDefaultArchitecture : architecture);
      return;
    }
    for (const FunctionInfo& function : program.functions) text += emit_function(function, form);
  });
  return text;
}

}  // namespace metal
