// Encoding, order, errors and limits of the host API.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "emulated.h"
#include "metal/driver.h"
#include "metal/native_kernel.h"
#include "metal/sanitizers.h"

namespace metal::test {
namespace {

using cpu::Granularity;
using cpu::Group;

ArgumentInfo argument_info(ArgumentKind kind, uint32_t index, const char* name) {
  ArgumentInfo info;
  info.kind = kind;
  info.index = index;
  info.name = name;
  return info;
}

NativeKernel adder() {
  return {.name = "adder",
          .entry = add_one,
          .arguments = {argument_info(ArgumentKind::Buffer, 0, "x")}};
}

class Commands : public testing::Test {
 protected:
  NS::SharedPtr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  NS::SharedPtr<MTL::CommandQueue> queue = NS::TransferPtr(device()->newCommandQueue());
  NS::SharedPtr<MTL::ComputePipelineState> add = pipeline(adder());

  // Returns the error's text after an attempt to launch the adder.
  std::string launch(MTL::Size grid, MTL::Size threadgroup) {
    Data<int> data(4096);
    return run(add.get(), {data}, grid, threadgroup);
  }
};

TEST_F(Commands, TakeLabels) {
  auto labelled = NS::TransferPtr(device()->newCommandQueue(8));
  labelled->setLabel(MTLSTR("queue"));
  Data<int> data(64);
  data.buffer->setLabel(MTLSTR("data"));
  auto* commands = labelled->commandBuffer();
  commands->setLabel(MTLSTR("commands"));
  EXPECT_STREQ(commands->label()->utf8String(), "commands");
  EXPECT_EQ(commands->commandQueue(), labelled.get());
  EXPECT_EQ(commands->device(), device());
  auto* encoder = commands->computeCommandEncoder();
  encoder->setLabel(MTLSTR("encoder"));
  encoder->pushDebugGroup(MTLSTR("group"));
  encoder->setComputePipelineState(add.get());
  encoder->setBuffer(data, 0, 0);
  encoder->dispatchThreads(MTL::Size::Make(64, 1, 1), MTL::Size::Make(32, 1, 1));
  encoder->popDebugGroup();
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT_EQ(data[63], 1);
}

TEST_F(Commands, RunInTheOrderOfCommits) {
  Data<int> data(64);
  std::vector<MTL::CommandBuffer*> buffers;
  for (int i = 0; i < 50; ++i) {
    auto* commands = queue->commandBuffer();
    auto* encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(add.get());
    encoder->setBuffer(data, 0, 0);
    for (int k = 0; k < 4; ++k) {
      encoder->dispatchThreadgroups({2, 1, 1}, {32, 1, 1});
      encoder->memoryBarrier(MTL::BarrierScopeBuffers);
    }
    encoder->endEncoding();
    commands->addHostTask([&data, i] {
      for (int k = 0; k < 64; ++k) {
        if (data[k] != 4 * (i + 1)) throw std::runtime_error("out of order");
      }
    });
    commands->commit();
    buffers.push_back(commands);
  }
  buffers.back()->waitUntilCompleted();
  for (auto* commands : buffers) EXPECT_EQ(commands->status(), MTL::CommandBufferStatusCompleted);
  EXPECT_EQ(data[63], 200);
}

TEST_F(Commands, EnqueuedBuffersMayBeLateOrNeverCommitted) {
  Data<int> data(64);
  auto* never = queue->commandBuffer();
  never->enqueue();
  EXPECT_EQ(never->status(), MTL::CommandBufferStatusEnqueued);
  for (int pause : {0, 5}) {
    auto* commands = queue->commandBuffer();
    commands->enqueue();
    auto* encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(add.get());
    encoder->setBuffer(data, 0, 0);
    encoder->dispatchThreads({64, 1, 1}, {64, 1, 1});
    encoder->endEncoding();
    std::this_thread::sleep_for(std::chrono::milliseconds(pause));
    commands->commit();
    commands->waitUntilCompleted();
    EXPECT_EQ(commands->status(), MTL::CommandBufferStatusCompleted);
  }
  for (size_t i = 0; i < data.count; ++i) ASSERT_EQ(data[i], 2) << i;
  auto last = NS::TransferPtr(queue->newCommandBuffer());
  queue.reset();
  last->enqueue();
}

void copy_bytes(const Group* group, uint32_t thread) {
  argument<int>(group, 0)[thread] = argument<const int>(group, 1)[thread];
}

TEST_F(Commands, BytesAndOffsets) {
  Data<int> data(16);
  auto copy = pipeline({.entry = copy_bytes});
  auto* commands = queue->commandBuffer();
  auto* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(copy.get());
  for (int i = 0; i < 4; ++i) {
    const int values[4] = {i, i * 10, i * 100, i * 1000};
    const MTL::Buffer* const buffers[] = {data};
    const NS::UInteger offsets[] = {0};
    encoder->setBuffers(buffers, offsets, NS::Range::Make(0, 1));
    encoder->setBufferOffset(i * sizeof(values), 0);
    encoder->setBytes(values, sizeof(values), 1);
    encoder->dispatchThreads({4, 1, 1}, {4, 1, 1});
  }
  std::vector<int> many(5000, 7);
  encoder->setBytes(many.data(), many.size() * sizeof(int), 1);  // too much beside the others
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(data[i * 4 + 3], i * 1000);
}

TEST_F(Commands, HandlersSeeTheFinalStatus) {
  std::atomic<int> calls{0};
  auto* commands = queue->commandBuffer();
  commands->addCompletedHandler([&](MTL::CommandBuffer* buffer) {
    if (buffer->status() == MTL::CommandBufferStatusCompleted) ++calls;
  });
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT_EQ(calls, 1);
}

TEST_F(Commands, HostTaskErrorsAreTheBuffersError) {
  auto* commands = queue->commandBuffer();
  bool later = false;
  commands->addHostTask([] { throw std::runtime_error("no luck"); });
  commands->addHostTask([&] { later = true; });
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusError);
  EXPECT_STREQ(commands->error()->localizedDescription()->utf8String(), "no luck");
  EXPECT_FALSE(later);
}

TEST_F(Commands, BuffersLiveAsLongAsTheyAreUsed) {
  auto before = default_driver().allocator().statistics().active;
  auto* commands = queue->commandBuffer();
  auto* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(add.get());
  {
    Data<int> data(1 << 20);
    encoder->setBuffer(data, 0, 0);
  }
  encoder->dispatchThreads({1 << 20, 1, 1}, {256, 1, 1});
  EXPECT_GT(default_driver().allocator().statistics().active, before);
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusCompleted);
  EXPECT_EQ(default_driver().allocator().statistics().active, before);
}

TEST_F(Commands, QueueMayGoBeforeItsWork) {
  Data<int> data(64);
  auto* commands = queue->newCommandBuffer();
  auto* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(add.get());
  encoder->setBuffer(data, 0, 0);
  encoder->dispatchThreads({64, 1, 1}, {64, 1, 1});
  commands->commit();
  queue.reset();
  commands->waitUntilCompleted();
  commands->release();
  EXPECT_EQ(data[5], 1);
}

TEST_F(Commands, RefusedLaunchesNameKernelAndNumbers) {
  EXPECT_EQ(launch({0, 1, 1}, {1, 1, 1}),
            "[adder] Invalid grid (0, 1, 1): each dimension must be from 1 to 4294967295 threads");
  EXPECT_EQ(launch({5, static_cast<NS::UInteger>(-2), 1}, {1, 1, 1}),
            "[adder] Invalid grid (5, -2, 1): each dimension must be from 1 to 4294967295 threads");
  EXPECT_NE(launch({uint64_t{1} << 32, 1, 1}, {1, 1, 1}), "");
  EXPECT_EQ(launch({5, 1, 1}, {0, 1, 1}),
            "[adder] Invalid threadgroup (0, 1, 1): each dimension must be from 1 to 1024 threads");
  EXPECT_EQ(
      launch({5, 1, 1}, {32, 33, 1}),
      "[adder] Invalid threadgroup (32, 33, 1) of 1056 threads: this kernel allows at most 1024");
  EXPECT_EQ(launch({64, 1, 1}, {64, 1, 1}), "");
}

TEST_F(Commands, KernelsMayAllowFewerThreads) {
  NativeKernel kernel = adder();
  kernel.max_total_threads = 64;
  Data<int> data(128);
  EXPECT_EQ(pipeline(kernel)->maxTotalThreadsPerThreadgroup(), 64u);
  EXPECT_EQ(
      run(kernel, {data}, {128, 1, 1}, {128, 1, 1}),
      "[adder] Invalid threadgroup (128, 1, 1) of 128 threads: this kernel allows at most 64");
}

TEST_F(Commands, ThreadgroupMemoryLimit) {
  NativeKernel kernel = adder();
  kernel.static_threadgroup_memory = 20000;
  auto state = pipeline(kernel);
  EXPECT_EQ(state->staticThreadgroupMemoryLength(), 20000u);
  EXPECT_EQ(state->threadExecutionWidth(), 32u);
  auto* commands = queue->commandBuffer();
  auto* encoder = commands->computeCommandEncoder();
  Data<int> data(32);
  encoder->setComputePipelineState(state.get());
  encoder->setBuffer(data, 0, 0);
  encoder->setThreadgroupMemoryLength(12800, 0);
  encoder->dispatchThreads({32, 1, 1}, {32, 1, 1});
  commands->commit();
  commands->waitUntilCompleted();
  ASSERT_NE(commands->error(), nullptr);
  EXPECT_STREQ(commands->error()->localizedDescription()->utf8String(),
               "[adder] The launch needs 32800 bytes of threadgroup memory (20000 declared in the "
               "kernel, 12800 given at launch): at most 32768 are allowed");
}

TEST_F(Commands, ThreadgroupMemoryLengthReplacesTheOneBefore) {
  auto* commands = queue->commandBuffer();
  auto* encoder = commands->computeCommandEncoder();
  auto state = pipeline(adder());
  Data<int> data(32);
  encoder->setComputePipelineState(state.get());
  encoder->setBuffer(data, 0, 0);
  encoder->setThreadgroupMemoryLength(32768, 0);
  encoder->setThreadgroupMemoryLength(16384, 0);
  encoder->setThreadgroupMemoryLength(16384, 1);
  encoder->dispatchThreads({32, 1, 1}, {32, 1, 1});
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT_EQ(commands->error(), nullptr);
}

TEST_F(Commands, UnboundArguments) {
  EXPECT_EQ(run(add.get(), {}, {1, 1, 1}, {1, 1, 1}),
            "[adder] No buffer is bound at index 0 (\"x\")");
  NativeKernel kernel = adder();
  kernel.arguments.push_back(argument_info(ArgumentKind::ThreadgroupMemory, 2, "tmp"));
  kernel.arguments.push_back(argument_info(ArgumentKind::Buffer, 5, "extra"));
  kernel.arguments.back().optional = true;
  kernel.arguments.push_back(argument_info(ArgumentKind::Attribute, 0, "gid"));
  Data<int> data(1);
  EXPECT_EQ(run(kernel, {data}, {1, 1, 1}, {1, 1, 1}),
            "[adder] No threadgroup memory length is set at index 2 (\"tmp\")");
  kernel.arguments.erase(kernel.arguments.begin() + 1);
  EXPECT_EQ(run(kernel, {data}, {1, 1, 1}, {1, 1, 1}), "");
}

TEST_F(Commands, NothingOfARefusedBufferRuns) {
  Data<int> data(32);
  auto* commands = queue->commandBuffer();
  auto* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(add.get());
  encoder->setBuffer(data, 0, 0);
  encoder->dispatchThreads({32, 1, 1}, {32, 1, 1});
  encoder->setBuffer(data, 0, 31);
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT_STREQ(commands->error()->localizedDescription()->utf8String(),
               "[setBuffer] Invalid index 31: at most 30 is allowed");
  EXPECT_EQ(data[0], 0);
}

TEST_F(Commands, HandlersThatThrowFailTheirBufferOnly) {
  Data<int> data(32);
  auto buffer_with = [&](auto add_handlers) {
    auto commands = NS::TransferPtr(queue->newCommandBuffer());
    auto* encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(add.get());
    encoder->setBuffer(data, 0, 0);
    encoder->dispatchThreads({32, 1, 1}, {32, 1, 1});
    add_handlers(commands.get());
    commands->commit();
    return commands;
  };
  std::atomic<int> later{0};
  auto before = buffer_with([](auto* commands) {
    commands->addScheduledHandler([](auto*) { throw std::runtime_error("not now"); });
  });
  auto after = buffer_with([&](auto* commands) {
    commands->addCompletedHandler([](auto*) { throw std::invalid_argument("too late"); });
    commands->addCompletedHandler([](auto*) { throw 3; });
    commands->addCompletedHandler([&later](auto*) { ++later; });
  });
  auto good = buffer_with([](auto*) {});
  for (auto& commands : {before, after, good}) commands->waitUntilCompleted();
  EXPECT_EQ(before->status(), MTL::CommandBufferStatusError);
  EXPECT_STREQ(before->error()->localizedDescription()->utf8String(), "not now");
  EXPECT_EQ(after->status(), MTL::CommandBufferStatusError);
  EXPECT_STREQ(after->error()->localizedDescription()->utf8String(), "too late");
  EXPECT_EQ(later, 1);
  EXPECT_EQ(good->status(), MTL::CommandBufferStatusCompleted);
  EXPECT_EQ(data[31], 2);  // all but the one that must not start
}

// ThreadSanitizer supports neither a fork with several threads nor the end of oneTBB. In the child
// of a fork, AddressSanitizer's allocator may wait forever for a lock whose thread does not exist.
#ifndef METAL_TSAN
#ifndef METAL_ASAN
TEST_F(Commands, WorkInAForkedProcess) {
  SKIP_IF_EMULATED("it ends in the child of a process with threads");
  Data<int> data(100000);
  ASSERT_EQ(run(add.get(), {data}, {100000, 1, 1}, {64, 1, 1}), "");
  pid_t child = fork();
  if (child == 0) {
    bool good = run(add.get(), {data}, {100000, 1, 1}, {64, 1, 1}).empty() && data[99999] == 2;
    _exit(good ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(data[99999], 1);
}
#endif

void wait_forever(const Group*, uint32_t) {
  for (;;) asm volatile("" ::: "memory");
}

void exit_while_a_kernel_runs() {
  auto queue = NS::TransferPtr(device()->newCommandQueue());
  auto endless = pipeline({.entry = wait_forever});
  auto* commands = queue->commandBuffer();
  auto* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(endless.get());
  encoder->dispatchThreads({100000, 1, 1}, {64, 1, 1});
  commands->commit();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::exit(3);
}

TEST_F(Commands, ExitWhileAKernelRuns) {
  SKIP_IF_EMULATED("the system cannot start the test again");
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(exit_while_a_kernel_runs(), testing::ExitedWithCode(3), "");
}
#endif

TEST_F(Commands, FromManyThreads) {
  std::vector<std::thread> threads;
  Data<int> data(8 * 1000);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        auto commands = NS::TransferPtr(queue->newCommandBuffer());
        auto* encoder = commands->computeCommandEncoder();
        encoder->setComputePipelineState(add.get());
        encoder->setBuffer(data, t * 4000, 0);
        encoder->dispatchThreads({1000, 1, 1}, {100, 1, 1});
        commands->commit();
        commands->waitUntilCompleted();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (size_t i = 0; i < data.count; ++i) ASSERT_EQ(data[i], 50);
}

}  // namespace
}  // namespace metal::test
