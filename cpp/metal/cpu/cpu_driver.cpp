// The driver that runs kernels on the CPU.
#include "metal/cpu/cpu_driver.h"

#include <cstdlib>
#include <cstring>
#include <string>

#include "metal/cpu/codegen/jit.h"
#include "metal/cpu/runtime/dispatch.h"
#include "metal/cpu/runtime/memory.h"
#include "metal/cpu/runtime/monitor.h"
#include "metal/cpu/runtime/system.h"

namespace metal::cpu {
namespace {

class LoadedKernel : public Kernel {
 public:
  std::string why_scalar(const uint32_t (&threadgroup)[3]) const override {
    return code->code_for(threadgroup, threadgroup[0]).why_scalar;
  }

  std::shared_ptr<CpuKernel> code;
};

class CpuStream : public Stream {
 public:
  void launch(const Kernel& kernel, const LaunchParameters& parameters) override {
    Dispatch dispatch(kernel, *static_cast<const LoadedKernel&>(kernel).code, parameters);
    dispatch.run();
  }
  void wait() override {}
};

// Reference mode runs one thread at a time. Tests compare vector code with it.
bool reference_mode() {
  const char* value = std::getenv("MLX_CPU_REFERENCE");
  return value && *value && std::strcmp(value, "0") != 0;
}

class CpuDriver : public Driver {
 public:
  CpuDriver() {
    info_.name = processor_name();
    info_.architecture = architecture();
    info_.memory_size = physical_memory();
    info_.max_buffer_length = info_.memory_size;
    info_.recommended_working_set = info_.memory_size / 4 * 3;
  }

  const DeviceInfo& info() const override { return info_; }
  Allocator& allocator() override { return Heap::instance(); }

  std::shared_ptr<const Program> compile(std::string_view source,
                                         const CompileOptions& options) override {
    return metal::compile(source, options);
  }

  std::shared_ptr<const Kernel> load(const Program& program, std::string_view function,
                                     const ConstantValues& constants,
                                     std::string_view label) override {
    return make_kernel(load_cpu_kernel(program, function, constants, reference_mode()),
                       program.get(function), label);
  }

  std::unique_ptr<Stream> new_stream() override { return std::make_unique<CpuStream>(); }
  void interrupt() override { interrupt_dispatches(); }

 private:
  DeviceInfo info_;
};

}  // namespace

Driver& cpu_driver() {
  static CpuDriver& driver = *new CpuDriver;  // queues' threads may use it until the process ends
  return driver;
}

std::shared_ptr<const Kernel> make_kernel(std::shared_ptr<CpuKernel> code, FunctionInfo info,
                                          std::string_view name) {
  auto kernel = std::make_shared<LoadedKernel>();
  kernel->name = name;
  kernel->info = std::move(info);
  kernel->max_total_threads = code->max_total_threads;
  kernel->static_threadgroup_memory = code->static_threadgroup_memory;
  kernel->repeats = code->repeats;
  kernel->code = std::move(code);
  return kernel;
}

}  // namespace metal::cpu
