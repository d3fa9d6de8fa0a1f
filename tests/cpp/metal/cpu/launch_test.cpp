// Grids, edges and granularities: every thread runs once, with its position.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>

#include "metal/native_kernel.h"

namespace metal::test {
namespace {

using cpu::Granularity;
using cpu::Group;

void visit(const Group* group, uint32_t thread) {
  argument<std::atomic<uint32_t>>(group, 0)[Position(group, thread).linear]++;
}

void visit_all(const Group* group, uint32_t) {
  const uint32_t threads = group->size[0] * group->size[1] * group->size[2];
  for (uint32_t thread = 0; thread < threads; ++thread) visit(group, thread);
}

void expect_each_thread_once(MTL::Size grid, MTL::Size threadgroup) {
  const NativeKernel kernels[] = {{.entry = visit_all, .granularity = Granularity::Group},
                                  {.entry = visit},
                                  {.entry = visit, .has_barriers = true}};
  for (const NativeKernel& kernel : kernels) {
    Data<uint32_t> counts(grid.width * grid.height * grid.depth);
    ASSERT_EQ(run(kernel, {counts}, grid, threadgroup), "");
    for (size_t i = 0; i < counts.count; ++i) ASSERT_EQ(counts[i], 1u) << i;
  }
}

TEST(Launch, OneThread) { expect_each_thread_once({1, 1, 1}, {1, 1, 1}); }

TEST(Launch, ExactMultiple) { expect_each_thread_once({4096, 1, 1}, {256, 1, 1}); }

TEST(Launch, PartialEdgeThreadgroups) {
  expect_each_thread_once({1000, 1, 1}, {48, 1, 1});
  expect_each_thread_once({37, 21, 5}, {8, 4, 2});
  expect_each_thread_once({5, 7, 3}, {32, 8, 4});
  expect_each_thread_once({33, 3, 1}, {32, 2, 1});
}

TEST(Launch, ManyThreadgroupsOverTheCores) {
  expect_each_thread_once({70000, 1, 1}, {32, 1, 1});
  expect_each_thread_once({200, 190, 2}, {16, 16, 1});
}

TEST(Launch, LargestThreadgroup) { expect_each_thread_once({5000, 1, 1}, {1024, 1, 1}); }

void write_sizes(const Group* group, uint32_t) {
  const auto& [x, y, z] = group->position;
  if (x + y + z != 0) return;
  auto* out = argument<uint32_t>(group, 0);
  for (int i = 0; i < 3; ++i) {
    out[i] = group->launch->threads_per_grid[i];
    out[3 + i] = group->launch->threads_per_threadgroup[i];
    out[6 + i] = group->launch->threadgroups_per_grid[i];
  }
}

TEST(Launch, SizesThatAKernelSees) {
  Data<uint32_t> out(9);
  NativeKernel kernel{.entry = write_sizes, .granularity = Granularity::Group};
  ASSERT_EQ(run(kernel, {out}, {10, 20, 3}, {4, 8, 1}), "");
  const uint32_t expected[] = {10, 20, 3, 4, 8, 1, 3, 3, 3};
  for (int i = 0; i < 9; ++i) EXPECT_EQ(out[i], expected[i]) << i;
}

void count_groups(const Group* group, uint32_t) { argument<std::atomic<uint64_t>>(group, 0)[0]++; }

// There are more threads than 32 bits can count, but each dimension fits.
TEST(Launch, GridBeyond32Bits) {
  Data<uint64_t> count(1);
  NativeKernel kernel{.entry = count_groups, .granularity = Granularity::Group};
  ASSERT_EQ(run(kernel, {count}, {1u << 20, 4097, 1}, {1024, 1, 1}), "");
  EXPECT_EQ(count[0], uint64_t{1024} * 4097);
}

}  // namespace
}  // namespace metal::test
