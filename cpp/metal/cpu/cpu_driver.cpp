// The driver that runs kernels on the CPU.
#include "metal/cpu/cpu_driver.h"

#include <cstdlib>
#include <cstring>
#include <string>

#include "metal/coverage.h"
#include "metal/cpu/runtime/dispatch.h"
#include "metal/cpu/runtime/jit.h"
#include "metal/cpu/runtime/launch_chain.h"
#include "metal/cpu/runtime/memory.h"
#include "metal/cpu/runtime/monitor.h"
#include "metal/cpu/runtime/profiler.h"
#include "metal/cpu/runtime/screening.h"
#include "metal/cpu/runtime/system.h"

namespace metal::cpu {
namespace {

class LoadedKernel : public Kernel {
 public:
  std::string why_scalar(const uint32_t (&threadgroup)[3]) const override {
    return code->code_for(threadgroup, threadgroup[0], {true, true}).why_scalar;
  }
  CheckedCode checked() const {
    return {code == ordered ? nullptr : code.get(), screen.get(), ordered.get()};
  }

  std::shared_ptr<CpuKernel> code;
  // Of checked kernels, see screening.h; each may be null. Then `code` is the exact code, or that
  // of the check of order if there is no other.
  std::shared_ptr<CpuKernel> screen;
  std::shared_ptr<CpuKernel> ordered;
  bool profiled = false;
};

std::shared_ptr<LoadedKernel> new_kernel(std::shared_ptr<CpuKernel> code, FunctionInfo info,
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

class CpuStream : public Stream {
 public:
  void launch(const Kernel& kernel, const LaunchParameters& parameters) override {
    const auto& loaded = static_cast<const LoadedKernel&>(kernel);
    const bool observed = loaded.profiled || parameters.checked;
    if (!observed && chain_.add(kernel, *loaded.code, parameters)) return;
    chain_.run();
    if (loaded.profiled) return run_profiled(loaded, parameters);
    if (parameters.checked) return run_checked(kernel, loaded.checked(), parameters);
    if (chain_.add(kernel, *loaded.code, parameters)) return;
    Dispatch dispatch(kernel, *loaded.code, parameters);
    dispatch.run();
  }
  void wait() override { chain_.run(); }

 private:
  static void run_profiled(const LoadedKernel& kernel, LaunchParameters parameters) {
    parameters.checked = nullptr;
    Dispatch dispatch(kernel, *kernel.code, parameters);
    Profiler& profiler = Profiler::instance();
    const uint32_t launch = profiler.begin_launch(kernel, parameters);
    dispatch.profile(launch);
    dispatch.run();
    profiler.end_launch(launch);
  }

  LaunchChain chain_;  // launches that have not started
};

// Reference mode runs one thread at a time. Tests compare vector code with it.
bool reference_mode() {
  const char* value = std::getenv("MLX_CPU_REFERENCE");
  return value && *value && std::strcmp(value, "0") != 0;
}

// The same program with what checks and coverage need to know of its source; null where that is not
// known.
std::shared_ptr<const Program> for_checks(const Program& program, Checks checks) {
  if (program.source.empty()) return nullptr;
  CompileOptions options = program.options;
  options.line_tables = true;  // findings name them
  options.mark_undefined = (checks & kCheckUninitialised) != 0;
  options.mark_numbers = (checks & kCheckNumbers) != 0;
  options.coverage = (checks & kCoverage) != 0;
  options.debug = (checks & kDebug) != 0;
  return compile(program.source, options);
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

  std::shared_ptr<const Kernel> load(const Program& program, std::string_view function,
                                     const ConstantValues& constants, std::string_view label,
                                     Checks checks) override {
    const CodeMode mode = reference_mode() ? CodeMode::Reference : CodeMode::Vector;
    if (checks == kNoChecks) {
      return make_kernel(load_cpu_kernel(program, function, constants, mode), program.get(function),
                         label);
    }
    // Checked kernels are not timed: they are much slower than others.
    const bool profiled = checks == kProfile;
    checks &= ~kProfile;
    const auto located = for_checks(program, checks);
    const Program& checked = located ? *located : program;
    if (profiled) {
      auto kernel = new_kernel(load_cpu_kernel(checked, function, constants, mode, kProfile),
                               checked.get(function), label);
      kernel->source = program.source;
      kernel->profiled = true;
      return kernel;
    }
    auto load = [&](CodeMode code, Checks made) {
      return load_cpu_kernel(checked, function, constants, code, made);
    };
    const Checks once = checks & ~kCheckOrder;  // need one run
    auto kernel =
        new_kernel(load(CodeMode::Reference, once ? once : checks), checked.get(function), label);
    kernel->source = program.source;
    if (checks & kCheckOrder)
      kernel->ordered = once ? load(CodeMode::Reference, kCheckOrder) : kernel->code;
    const bool screened =
        once && !(once & (kCoverage | kDebug | kCheckRounding));  // a screen does none
    if (screened && mode == CodeMode::Vector) kernel->screen = load(CodeMode::Screen, once);
    if (checks & kCoverage) write_coverage_at_exit(checked.get(function).covered && !located);
    return kernel;
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
  return new_kernel(std::move(code), std::move(info), name);
}

}  // namespace metal::cpu
