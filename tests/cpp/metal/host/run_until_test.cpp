// Threads that wait for bounded command buffers run these themselves.
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "metal/driver.h"
#include "metal/native_kernel.h"

namespace metal::test {
namespace {

using cpu::Group;

// The thread that ran a kernel of one thread.
std::atomic<pthread_t> thread_of_kernel{};
void note_thread(const Group*, uint32_t) { thread_of_kernel = pthread_self(); }

std::atomic<int> strange_rounding{0};
void count_strange_rounding(const Group*, uint32_t) {
  if (std::fegetround() != FE_TONEAREST) ++strange_rounding;
}

void take_long(const Group*, uint32_t) {
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

class RunUntil : public testing::Test {
 protected:
  NS::SharedPtr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  NS::SharedPtr<MTL::CommandQueue> queue = NS::TransferPtr(device()->newCommandQueue());

  static NS::SharedPtr<MTL::ComputePipelineState> bounded(cpu::EntryPoint entry) {
    auto state = pipeline({.entry = entry});
    state->setBounded();
    return state;
  }

  // `times` launches of one thread each, in a command buffer that is not committed.
  NS::SharedPtr<MTL::CommandBuffer> launches(const MTL::ComputePipelineState* kernel,
                                             int times = 1) {
    auto commands = NS::TransferPtr(queue->newCommandBuffer());
    auto* encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(kernel);
    for (int i = 0; i < times; ++i) encoder->dispatchThreads({1, 1, 1}, {1, 1, 1});
    encoder->endEncoding();
    return commands;
  }

  // How many of 50 launches ran on the thread that waited for them.
  int runs_here(const MTL::ComputePipelineState* kernel, bool with_task = false) {
    int here = 0;
    for (int i = 0; i < 50; ++i) {
      // Waits until the queue's own thread, which could be quicker, sleeps.
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      auto commands = launches(kernel);
      if (with_task) commands->addHostTask([] {});
      commands->commit();
      commands->waitUntilCompleted();
      EXPECT_EQ(commands->status(), MTL::CommandBufferStatusCompleted);
      here += pthread_equal(thread_of_kernel, pthread_self()) != 0;
    }
    return here;
  }
};

TEST_F(RunUntil, WaitingThreadRunsBoundedLaunches) {
  EXPECT_GT(runs_here(bounded(note_thread).get()), 0);
  EXPECT_EQ(runs_here(pipeline({.entry = note_thread}).get()), 0);
  EXPECT_EQ(runs_here(bounded(note_thread).get(), /*with_task=*/true), 0);
}

TEST_F(RunUntil, CallersThatWaitNextRunBoundedLaunches) {
  const auto kernel = bounded(note_thread), unbounded = pipeline({.entry = note_thread});
  for (int i = 0; i < 50; ++i) {  // also while the queue's own thread looks for work
    auto commands = launches(i % 10 == 9 ? unbounded.get() : kernel.get());
    commands->commitBefore(MTL::NextCall::Wait);
    commands->waitUntilCompleted();
    EXPECT_EQ(commands->status(), MTL::CommandBufferStatusCompleted);
    EXPECT_EQ(pthread_equal(thread_of_kernel, pthread_self()) != 0, i % 10 != 9);
  }
}

TEST_F(RunUntil, OwnThreadRunsWhatTheCallerLeaves) {
  auto commands = launches(bounded(note_thread).get());
  commands->commitBefore(MTL::NextCall::Wait);
  queue->runUntil([] { return true; }, {});
  while (commands->status() < MTL::CommandBufferStatusCompleted) std::this_thread::yield();
  EXPECT_FALSE(pthread_equal(thread_of_kernel, pthread_self()));
}

TEST_F(RunUntil, CodeWithoutLoopsOfNotTooManyThreadsIsBounded) {
  NS::Error* error = nullptr;
  auto library = NS::TransferPtr(
      device()->newLibrary(NS::String::string(R"(
        #include <metal_stdlib>
        kernel void straight(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
          if (i == 0) out[i] = metal::exp(float(i));
        }
        kernel void loop(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
          for (; out[i] < 0; out[i] += 1) {}
        })",
                                              NS::UTF8StringEncoding),
                           static_cast<const MTL::CompileOptions*>(nullptr), &error));
  ASSERT_TRUE(library) << error->localizedDescription()->utf8String();
  Data<float> out(1);
  // Whether this thread runs at least one of a few launches of so many threads.
  auto is_bounded = [&](const char* name, MTL::Size grid) {
    auto function =
        NS::TransferPtr(library->newFunction(NS::String::string(name, NS::UTF8StringEncoding)));
    auto kernel = NS::TransferPtr(device()->newComputePipelineState(function.get(), &error));
    bool here = false;
    for (int i = 0; i < 20 && !here; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      auto commands = NS::TransferPtr(queue->newCommandBuffer());
      auto* encoder = commands->computeCommandEncoder();
      encoder->setComputePipelineState(kernel.get());
      encoder->setBuffer(out, 0, 0);
      encoder->dispatchThreads(grid, {64, 1, 1});
      commands->addCompletedHandler([&, waiting = pthread_self()](MTL::CommandBuffer*) {
        here = pthread_equal(waiting, pthread_self()) != 0;
      });
      commands->commit();
      commands->waitUntilCompleted();
      EXPECT_EQ(commands->status(), MTL::CommandBufferStatusCompleted);
    }
    return here;
  };
  EXPECT_TRUE(is_bounded("straight", {64, 1, 1}));
  EXPECT_FALSE(is_bounded("straight", {1 << 9, 1 << 9, 1 << 9}));
  EXPECT_FALSE(is_bounded("loop", {1, 1, 1}));
}

TEST_F(RunUntil, KernelsRoundAsAlways) {
  const int before = std::fegetround();
  std::fesetround(FE_UPWARD);  // which a new queue's thread inherits
  for (auto kernel :
       {bounded(count_strange_rounding), pipeline({.entry = count_strange_rounding})}) {
    for (int i = 0; i < 10; ++i) {
      auto commands = NS::TransferPtr(queue->newCommandBuffer());
      auto* encoder = commands->computeCommandEncoder();
      encoder->setComputePipelineState(kernel.get());
      encoder->dispatchThreads({1 << 18, 1, 1}, {64, 1, 1});
      commands->commit();
      commands->waitUntilCompleted();
      EXPECT_EQ(std::fegetround(), FE_UPWARD);
    }
  }
  std::fesetround(before);
  EXPECT_EQ(strange_rounding, 0);
}

TEST_F(RunUntil, ExceptionOfPollEndsTheWait) {
  auto kernel = bounded(take_long);
  for (bool interrupts : {false, true}) {
    auto commands = launches(kernel.get(), 20);
    commands->commit();
    auto poll = [&] {
      if (interrupts) interrupt();
      throw std::logic_error("enough");
    };
    EXPECT_THROW(commands->waitUntilCompleted(poll), std::logic_error);
    commands->waitUntilCompleted();
    EXPECT_EQ(commands->status(),
              interrupts ? MTL::CommandBufferStatusError : MTL::CommandBufferStatusCompleted);
  }
}

TEST_F(RunUntil, OrderIsKeptOnAnyThread) {
  constexpr int kThreads = 4;
  constexpr int kTurns = 100;
  Data<int> data(1000);
  NS::SharedPtr<MTL::ComputePipelineState> kernels[] = {bounded(add_one),
                                                        pipeline({.entry = add_one})};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kTurns; ++i) {
        auto commands = NS::TransferPtr(queue->newCommandBuffer());
        auto* encoder = commands->computeCommandEncoder();
        encoder->setComputePipelineState(kernels[(i + t) % 3 == 0].get());
        encoder->setBuffer(data, 0, 0);
        encoder->dispatchThreads({1000, 1, 1}, {100, 1, 1});
        if ((i + t) % 5 == 0) commands->addHostTask([&] { data[0] += 1; });
        commands->commit();
        if (i % 2 == 0 || i == kTurns - 1) commands->waitUntilCompleted();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(data[0], kThreads * (kTurns + kTurns / 5));
  for (size_t i = 1; i < data.count; ++i) ASSERT_EQ(data[i], kThreads * kTurns) << i;
}

TEST_F(RunUntil, QueueMayEndWhileAnotherThreadRunsIt) {
  auto commands = launches(bounded(note_thread).get());
  queue.reset();
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusCompleted);
}

}  // namespace
}  // namespace metal::test
