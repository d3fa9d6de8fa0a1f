// Kernels written in C++ for the binary interface of compiled kernels, to test the runtime.
#include "metal/native_kernel.h"

#include <memory>

#include "metal/cpu/cpu_driver.h"
#include "metal/cpu/runtime/jit.h"
#include "metal/host/library.h"

namespace metal::test {
namespace {

struct NativeCode : cpu::CpuKernel {
  const cpu::CpuCode& code_for(const uint32_t (&)[3], uint32_t,
                               const cpu::LaunchFacts&) const override {
    return code;
  }
  cpu::CpuCode code;
};

}  // namespace

MTL::Device* device() {
  static MTL::Device* device = MTL::CreateSystemDefaultDevice();
  return device;
}

NS::SharedPtr<MTL::ComputePipelineState> pipeline(const NativeKernel& kernel) {
  auto code = std::make_shared<NativeCode>();
  code->code.entry = kernel.entry;
  code->code.granularity = kernel.granularity;
  code->code.has_barriers = kernel.has_barriers;
  code->static_threadgroup_memory = kernel.static_threadgroup_memory;
  code->max_total_threads = kernel.max_total_threads;
  FunctionInfo info;
  info.name = kernel.name;
  info.arguments = kernel.arguments;
  MTL::ComputePipelineState* state = new host::PipelineObject(
      device(), cpu::make_kernel(std::move(code), std::move(info), kernel.name));
  return NS::TransferPtr(state);
}

std::string run(const MTL::ComputePipelineState* pipeline,
                std::initializer_list<const MTL::Buffer*> buffers, MTL::Size grid,
                MTL::Size threadgroup) {
  static MTL::CommandQueue* queue = device()->newCommandQueue();
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  auto commands = NS::TransferPtr(queue->newCommandBuffer());
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(pipeline);
  NS::UInteger index = 0;
  for (const MTL::Buffer* buffer : buffers) encoder->setBuffer(buffer, 0, index++);
  encoder->dispatchThreads(grid, threadgroup);
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  return commands->error() ? commands->error()->localizedDescription()->utf8String() : "";
}

std::string run(const NativeKernel& kernel, std::initializer_list<const MTL::Buffer*> buffers,
                MTL::Size grid, MTL::Size threadgroup) {
  return run(pipeline(kernel).get(), buffers, grid, threadgroup);
}

Position::Position(const cpu::Group* group, uint32_t thread) {
  const cpu::Launch& launch = *group->launch;
  const uint32_t* size = group->size;
  x = group->position[0] * launch.threads_per_threadgroup[0] + thread % size[0];
  y = group->position[1] * launch.threads_per_threadgroup[1] + thread / size[0] % size[1];
  z = group->position[2] * launch.threads_per_threadgroup[2] + thread / size[0] / size[1];
  linear = (uint64_t{z} * launch.threads_per_grid[1] + y) * launch.threads_per_grid[0] + x;
}

void add_one(const cpu::Group* group, uint32_t thread) {
  argument<int>(group, 0)[Position(group, thread).linear] += 1;
}

}  // namespace metal::test
