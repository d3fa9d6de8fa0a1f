// The order of threadgroups: each runs once, and those that share memory run one after the other.
#include "metal/cpu/runtime/threadgroup_order.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "metal/native_kernel.h"

namespace metal::cpu {
namespace {

LaunchParameters row(uint32_t threads, uint32_t size, uint64_t stride, uint64_t count) {
  LaunchParameters parameters;
  parameters.threads_per_grid[0] = threads;
  parameters.threads_per_threadgroup[0] = size;
  parameters.order_stride = stride;
  parameters.order_count = count;
  return parameters;
}

std::vector<uint64_t> visits(const LaunchParameters& parameters, uint64_t groups,
                             uint32_t coarsening = 1) {
  const ThreadgroupOrder order(parameters, coarsening);
  std::vector<uint64_t> numbers;
  for (uint64_t i = 0; i < groups; ++i) numbers.push_back(order[i]);
  return numbers;
}

TEST(ThreadgroupOrder, NeighboursFollowEachOther) {
  EXPECT_EQ(visits(row(150, 10, 20, 3), 15),
            (std::vector<uint64_t>{0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11, 12, 13, 14}));
}

TEST(ThreadgroupOrder, PairsBelowEachOther) {
  const ThreadgroupOrder order(3, 2, 9);
  std::vector<uint64_t> numbers;
  for (uint64_t i = 0; i < 9; ++i) numbers.push_back(order[i]);
  EXPECT_EQ(numbers, (std::vector<uint64_t>{0, 3, 1, 4, 2, 5, 6, 7, 8}));
}

TEST(ThreadgroupOrder, ThreadgroupsThatRunAsOne) {
  EXPECT_EQ(visits(row(120, 10, 40, 2), 6, 2), (std::vector<uint64_t>{0, 2, 1, 3, 4, 5}));
  EXPECT_TRUE(ThreadgroupOrder(row(120, 10, 40, 2), 4).natural());
}

TEST(ThreadgroupOrder, NaturalWhereThreadgroupsAreCut) {
  EXPECT_TRUE(ThreadgroupOrder(row(100, 10, 0, 1), 1).natural());
  EXPECT_TRUE(ThreadgroupOrder(row(100, 10, 15, 2), 1).natural());  // between threadgroups
  EXPECT_TRUE(ThreadgroupOrder(row(100, 10, 10, 2), 1).natural());  // they follow each other anyway
  EXPECT_TRUE(ThreadgroupOrder(row(100, 10, 20, 6), 1).natural());  // more than there are
  EXPECT_TRUE(ThreadgroupOrder(row(100, 10, UINT64_MAX / 10 * 10, 2), 1).natural());
  LaunchParameters plane = row(100, 10, 20, 2);
  plane.threads_per_grid[1] = 2;
  EXPECT_TRUE(ThreadgroupOrder(plane, 1).natural());
}

void count(const Group* group, uint32_t) {
  test::argument<std::atomic<uint32_t>>(group, 0)[group->position[0]]++;
}

TEST(ThreadgroupOrder, EachThreadgroupOnce) {
  const auto pipeline = test::pipeline({.entry = count, .granularity = Granularity::Group});
  for (uint32_t groups : {30u, 1000u, 5003u}) {
    test::Data<uint32_t> counts(groups);
    auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    auto queue = NS::TransferPtr(test::device()->newCommandQueue());
    auto commands = NS::TransferPtr(queue->newCommandBuffer());
    MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(pipeline.get());
    encoder->setBuffer(counts, 0, 0);
    encoder->setThreadgroupOrder(5 * 32, 4);
    encoder->dispatchThreads({32 * groups - 1, 1, 1}, {32, 1, 1});
    encoder->endEncoding();
    commands->commit();
    commands->waitUntilCompleted();
    for (uint32_t i = 0; i < groups; ++i) ASSERT_EQ(counts[i], 1u) << i;
  }
}

}  // namespace
}  // namespace metal::cpu
