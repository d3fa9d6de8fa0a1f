#include "metal/cuda/driver/cuda_kernel.h"

#include <algorithm>
#include <utility>

#include "metal/cuda/driver/launch.h"

namespace metal::cuda {
namespace {

constexpr uint32_t kMostValueBytes = 3072;  // of the 4096 for all parameters of a launch
constexpr uint32_t kDeepestBlock = 64;      // the GPU's limit in the third dimension

// A multiprocessor has so many registers that 256 threads can each have the largest number that
// code may use, and 512 threads half of it.
uint32_t size_class(uint64_t threads) {
  for (uint32_t size : {256u, 512u}) {
    if (threads <= size) return size;
  }
  return kMaxThreadsPerThreadgroup;
}

// Whether a part of the threads keeps all multiprocessors busy. Positions in x have 31 bits
// (several_threads.h).
bool is_large(const uint32_t (&grid)[3]) {
  constexpr double kManyThreads = 1 << 20;
  return grid[0] < (1u << 31) && double(grid[0]) * grid[1] * grid[2] >= kManyThreads;
}

bool is_aligned(const void* address) {
  return reinterpret_cast<uintptr_t>(address) % kBufferAlignment == 0;
}

// Buffers as bits: LaunchForm::by_value and long_values.
struct Values {
  uint32_t all = 0, long_ones = 0;
};

// The constant buffers among those whose bits are set that can be passed by value. `bytes_of` says
// how many bytes an argument has.
template <typename F>
Values values_among(uint32_t buffers, const FunctionInfo& function, F bytes_of) {
  Values values;
  uint32_t all_bytes = 0;
  for (const ArgumentInfo& argument : function.arguments) {
    if (argument.kind != ArgumentKind::Buffer || argument.index >= kMaxBufferBindings) continue;
    if (argument.address_space != AddressSpace::Constant || !(buffers >> argument.index & 1))
      continue;
    const uint64_t bytes = bytes_of(argument);
    const uint32_t size = bytes <= kValueBytes ? kValueBytes : kLongValueBytes;
    if (bytes > size || all_bytes + size > kMostValueBytes) continue;
    all_bytes += size;
    values.all |= 1u << argument.index;
    if (size == kLongValueBytes) values.long_ones |= 1u << argument.index;
  }
  return values;
}

}  // namespace

LaunchForm form_of(const LaunchParameters& parameters, const KernelInterface& interface) {
  const uint32_t(&size)[3] = parameters.threads_per_threadgroup;
  LaunchForm form;
  form.most_threads = size_class(uint64_t{size[0]} * size[1] * size[2]);
  form.flat = size[2] > kDeepestBlock;
  form.by_value = parameters.by_value;
  form.aligned = true;
  for (uint32_t i = 0; i < kMaxBufferBindings; ++i) {
    const bool is_value = form.by_value >> i & 1;
    if (is_value && parameters.buffer_bytes[i] > kValueBytes) form.long_values |= 1u << i;
    form.aligned &= is_value || is_aligned(parameters.buffers[i]);
  }
  form.in_parts = !fits_in_one_part(parameters);
  form.apart = parameters.apart || !interface.has_loops;
  form.summed = interface.summed_size == KernelInterface::kAnySize
                    ? parameters.threads_per_grid[0] % size[0] == 0
                    : !interface.summed_size || interface.summed_size == size[0];
  form.several = form.summed && interface.at_once > 1 && !form.flat && !form.in_parts &&
                 is_large(parameters.threads_per_grid);
  return form;
}

LoadedCode::LoadedCode(const Gpu& gpu, const MachineCode& code)
    : gpu_(gpu), interface_(code.interface) {
  gpu.enter();
  const Api& api = gpu.api();
  gpu.check(api.cuModuleLoadData(&module_, code.bytes.data()), "load a kernel");
  gpu.check(api.cuModuleGetFunction(&function_, module_, interface_.entry.c_str()),
            "find a kernel's entry");
}

// Nothing runs this code any more, as a launch keeps its pipeline.
LoadedCode::~LoadedCode() {
  if (gpu_.try_enter()) gpu_.api().cuModuleUnload(module_);
}

CudaKernel::CudaKernel(const Gpu& gpu, const FunctionInfo& function, ConstantValues constants,
                       std::string_view label)
    : gpu_(gpu), constants_(std::move(constants)) {
  name = label;
  info = function;
  LaunchForm usual;
  usual.most_threads =
      size_class(function.max_total_threads ? function.max_total_threads : uint64_t{1});
  usual.aligned = usual.apart = usual.summed = true;
  // Most constants are structures and small arrays that setBytes passed.
  const Values values = values_among(
      ~0u, function, [](const ArgumentInfo& argument) { return argument.element_size; });
  usual.by_value = values.all;
  usual.long_values = values.long_ones;
  const KernelInterface& interface = code_for(usual).interface();
  interface_ = &interface;
  max_total_threads = interface.max_total_threads;
  static_threadgroup_memory = interface.static_threadgroup_memory;
}

uint32_t CudaKernel::taken_by_value(uint32_t from_bytes, const LaunchParameters& parameters) const {
  return values_among(
             from_bytes, info,
             [&](const ArgumentInfo& argument) { return parameters.buffer_bytes[argument.index]; })
      .all;
}

const LoadedCode& CudaKernel::code_for(const LaunchForm& form) const {
  const std::lock_guard lock(mutex_);
  for (const Loaded& loaded : loaded_) {
    if (loaded.form == form) return loaded.code;
  }
  return loaded_.emplace_back(form, gpu_, find_machine_code(gpu_, info, constants_, form)).code;
}

}  // namespace metal::cuda
