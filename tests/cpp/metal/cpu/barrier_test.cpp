// Threadgroup barriers and threadgroup memory.
#include <gtest/gtest.h>

#include <cstdint>

#include "metal/cpu/runtime/runtime_calls.h"
#include "metal/native_kernel.h"

namespace metal::test {
namespace {

using cpu::Granularity;
using cpu::Group;

constexpr uint32_t kThreadgroup = 1;

void barrier(const Group* group, uint32_t site) { metal_cpu_barrier(group, site, kThreadgroup, 1); }

template <class T>
T* shared(const Group* group) {
  return reinterpret_cast<T*>(group->memory);
}

// Reverses each threadgroup's part through threadgroup memory, several times over.
void reverse(const Group* group, uint32_t thread) {
  auto* data = argument<uint32_t>(group, 0);
  uint32_t size = group->size[0];
  Position at(group, thread);
  for (int round = 0; round < 3; ++round) {
    shared<uint32_t>(group)[thread] = data[at.linear];
    barrier(group, 1);
    data[at.linear] = shared<uint32_t>(group)[size - 1 - thread];
    barrier(group, 2);
  }
}

TEST(Barrier, ThreadsExchangeThroughThreadgroupMemory) {
  for (uint32_t size : {1u, 2u, 31u, 32u, 33u, 66u, 228u, 1024u}) {
    uint32_t total = size * 7 + size / 2 + 1;  // the last threadgroup is partial
    Data<uint32_t> data(total);
    for (uint32_t i = 0; i < total; ++i) data[i] = i;
    NativeKernel kernel{.entry = reverse, .has_barriers = true, .static_threadgroup_memory = 4096};
    ASSERT_EQ(run(kernel, {data}, {total, 1, 1}, {size, 1, 1}), "");
    for (uint32_t i = 0; i < total; ++i) {
      uint32_t first = i / size * size, count = std::min(size, total - first);
      ASSERT_EQ(data[i], first + (count - 1 - (i - first))) << size;
    }
  }
}

// SIMD-groups 1 and up end at once. The first one uses barriers and SIMD-group functions.
void early_simd_groups(const Group* group, uint32_t thread) {
  auto* out = argument<uint32_t>(group, 0);
  if (thread >= 32) return;
  shared<uint32_t>(group)[thread] = thread;
  barrier(group, 1);
  uint32_t other = shared<uint32_t>(group)[31 - thread];
  out[thread] = metal_cpu_simd_sum_u32(group, 2, other);
  barrier(group, 3);
  out[thread] += 1;
}

TEST(Barrier, WholeSimdGroupsLeaveEarly) {
  Data<uint32_t> out(32);
  NativeKernel kernel{
      .entry = early_simd_groups, .has_barriers = true, .static_threadgroup_memory = 128};
  ASSERT_EQ(run(kernel, {out}, {256, 1, 1}, {256, 1, 1}), "");
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], 497u);
}

// Half of the threads wait at one barrier, half at another, and some at none: no thread may wait
// forever.
void mismatched(const Group* group, uint32_t thread) {
  auto* out = argument<uint32_t>(group, 0);
  if (thread % 3 == 0) {
    barrier(group, 1);
  } else if (thread % 3 == 1) {
    barrier(group, 2);
    barrier(group, 3);
    metal_cpu_simd_sum_u32(group, 4, 1);
  } else {
    metal_cpu_simd_sum_u32(group, 5, 1);
  }
  out[thread] = thread;
}

TEST(Barrier, InDivergentFlowDoesNotHang) {
  Data<uint32_t> out(100);
  NativeKernel kernel{.entry = mismatched, .has_barriers = true};
  ASSERT_EQ(run(kernel, {out}, {100, 1, 1}, {100, 1, 1}), "");
  for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(out[i], i);
}

void tree_sum(const Group* group, uint32_t thread) {
  auto* memory = shared<float>(group);
  memory[thread] = argument<float>(group, 0)[Position(group, thread).linear];
  for (uint32_t half = group->size[0] / 2; half > 0; half /= 2) {
    barrier(group, 1);
    if (thread < half) memory[thread] += memory[thread + half];
    metal_cpu_reconverge(group, 2);
  }
  if (thread == 0) argument<float>(group, 1)[group->position[0]] = memory[0];
}

TEST(Barrier, TreeSumInALoop) {
  Data<float> in(512 * 16), out(16);
  for (int i = 0; i < 512 * 16; ++i) in[i] = static_cast<float>(i % 13);
  NativeKernel kernel{.entry = tree_sum, .has_barriers = true, .static_threadgroup_memory = 2048};
  ASSERT_EQ(run(kernel, {in, out}, {512 * 16, 1, 1}, {512, 1, 1}), "");
  for (int row = 0; row < 16; ++row) {
    float sum = 0;
    for (int i = 0; i < 512; ++i) sum += in[row * 512 + i];
    EXPECT_EQ(out[row], sum);
  }
}

// The kernel's own 16 bytes come first, then the launch's.
void dynamic_memory(const Group* group, uint32_t) {
  auto* out = argument<uint32_t>(group, 0);
  out[0] = group->launch->threadgroup_offsets[0];
  out[1] = group->launch->threadgroup_offsets[1];
  out[2] = reinterpret_cast<uintptr_t>(group->memory) % 64 == 0;
  for (int i = 0; i < 32768; ++i) group->memory[i] = static_cast<char>(i);
}

TEST(Barrier, OffsetsOfDynamicThreadgroupMemory) {
  Data<uint32_t> out(3);
  NativeKernel kernel{
      .entry = dynamic_memory, .granularity = Granularity::Group, .static_threadgroup_memory = 20};
  auto state = pipeline(kernel);
  auto queue = NS::TransferPtr(device()->newCommandQueue());
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  auto* commands = queue->commandBuffer();
  auto* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(state.get());
  encoder->setBuffer(out, 0, 0);
  encoder->setThreadgroupMemoryLength(100, 0);
  encoder->setThreadgroupMemoryLength(16, 1);
  encoder->dispatchThreadgroups({1, 1, 1}, {1, 1, 1});
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  ASSERT_EQ(commands->status(), MTL::CommandBufferStatusCompleted);
  EXPECT_EQ(out[0], 32u);
  EXPECT_EQ(out[1], 32u + 112u);
  EXPECT_EQ(out[2], 1u);
}

}  // namespace
}  // namespace metal::test
