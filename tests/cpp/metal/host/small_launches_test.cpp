// Small launches and short tasks run in the thread that encodes them, if nothing is ahead of them.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "emulated.h"
#include "metal/driver.h"
#include "metal/native_kernel.h"
#include "metal/sanitizers.h"

namespace metal::test {
namespace {

using cpu::Group;

std::atomic<int> runs{0};
std::atomic<pthread_t> thread_of_last{};
void count_run(const Group*, uint32_t) {
  ++runs;
  thread_of_last = pthread_self();
}

class SmallLaunches : public testing::Test {
 protected:
  SmallLaunches() {
    commands->runSmallLaunches();
    kernel->setBounded();
    runs = 0;
  }

  static void launch(MTL::ComputeCommandEncoder* encoder, const MTL::ComputePipelineState* pipeline,
                     NS::UInteger threads = 1) {
    encoder->setComputePipelineState(pipeline);
    encoder->dispatchThreads({threads, 1, 1}, {1, 1, 1});
  }
  void launch() { launch(encoder, kernel.get()); }

  NS::SharedPtr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  NS::SharedPtr<MTL::CommandQueue> queue = NS::TransferPtr(device()->newCommandQueue());
  NS::SharedPtr<MTL::CommandBuffer> commands = NS::TransferPtr(queue->newCommandBuffer());
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  NS::SharedPtr<MTL::ComputePipelineState> kernel = pipeline({.entry = count_run});
};

TEST_F(SmallLaunches, RunAtOnce) {
  launch();
  EXPECT_EQ(runs, 1);
  EXPECT_TRUE(pthread_equal(thread_of_last, pthread_self()));
  EXPECT_TRUE(encoder->reuse());
  EXPECT_TRUE(queue->isIdle());
  bool ran = false;
  commands->addHostTask([&] { ran = true; }, /*ends_soon=*/true);
  EXPECT_TRUE(ran);
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusCompleted);
  EXPECT_EQ(runs, 1);
}

TEST_F(SmallLaunches, OthersAreRecorded) {
  const auto unbounded = pipeline({.entry = count_run});
  launch(encoder, unbounded.get());
  EXPECT_EQ(runs, 0);
  EXPECT_FALSE(encoder->reuse());
  launch();  // comes after it
  commands->addHostTask([] { EXPECT_EQ(runs, 2); }, /*ends_soon=*/true);
  EXPECT_EQ(runs, 0);
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusCompleted);
  EXPECT_EQ(runs, 2);
}

TEST_F(SmallLaunches, ManyThreadsAreRecorded) {
  launch(encoder, kernel.get(), 5000);
  EXPECT_EQ(runs, 0);
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT_EQ(runs, 5000);
}

TEST_F(SmallLaunches, BuffersThatDoNotAskForItRecordAll) {
  auto other = NS::TransferPtr(queue->newCommandBuffer());
  launch(other->computeCommandEncoder(), kernel.get());
  EXPECT_EQ(runs, 0);
  other->commit();
  other->waitUntilCompleted();
  EXPECT_EQ(runs, 1);
}

TEST_F(SmallLaunches, WaitForWhatIsCommitted) {
  std::atomic<bool> go = false;
  auto ahead = NS::TransferPtr(queue->newCommandBuffer());
  ahead->addHostTask([&] {
    while (!go) std::this_thread::yield();
    EXPECT_EQ(runs, 0);
  });
  ahead->commit();
  EXPECT_FALSE(queue->isIdle());
  launch();
  EXPECT_EQ(runs, 0);
  EXPECT_FALSE(encoder->reuse());
  go = true;
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT_EQ(runs, 1);
}

TEST_F(SmallLaunches, ErrorsFailTheCommandBuffer) {
  commands->addHostTask([] { throw std::runtime_error("no luck"); }, /*ends_soon=*/true);
  EXPECT_FALSE(encoder->reuse());
  launch();  // does not run, as it would not behind a task that failed later
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusError);
  ASSERT_TRUE(commands->error());
  EXPECT_STREQ(commands->error()->localizedDescription()->utf8String(), "no luck");
  EXPECT_EQ(runs, 0);
}

TEST_F(SmallLaunches, InterruptsBeforeTheLaunchDoNotStopIt) {
  interrupt();
  launch();
  EXPECT_EQ(runs, 1);
  EXPECT_TRUE(encoder->reuse());
}

TEST_F(SmallLaunches, ReusedEncodersForgetWhatIsSet) {
  launch();
  ASSERT_TRUE(encoder->reuse());
  encoder->dispatchThreads({1, 1, 1}, {1, 1, 1});
  EXPECT_EQ(runs, 1);
  EXPECT_FALSE(encoder->reuse());  // somebody must get the error
  commands->commit();
  commands->waitUntilCompleted();
  ASSERT_TRUE(commands->error());
  EXPECT_STREQ(commands->error()->localizedDescription()->utf8String(),
               "[dispatchThreads] No compute pipeline state is set");
}

TEST_F(SmallLaunches, BuffersWithHandlersAreNotReused) {
  bool told = false;
  commands->addCompletedHandler([&](MTL::CommandBuffer*) { told = true; });
  launch();
  EXPECT_EQ(runs, 1);
  EXPECT_FALSE(encoder->reuse());
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT_TRUE(told);
}

#if !defined(METAL_TSAN) && !defined(METAL_ASAN)
// What the parent has committed holds up nothing in the child, whose queue starts anew.
TEST_F(SmallLaunches, InAForkedProcess) {
  SKIP_IF_EMULATED("it ends in the child of a process with threads");
  std::atomic<bool> go = false;
  auto ahead = NS::TransferPtr(queue->newCommandBuffer());
  ahead->addHostTask([&] {
    while (!go) std::this_thread::yield();
  });
  ahead->commit();
  const pid_t child = fork();
  if (child == 0) {
    bool good = queue->isIdle();
    launch();
    commands->commit();
    commands->waitUntilCompleted();
    good &= runs == 1;
    _exit(good ? 0 : 1);
  }
  go = true;
  ahead->waitUntilCompleted();
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}
#endif

// Each thread adds to the same number, which needs no lock as one queue orders all of it.
TEST_F(SmallLaunches, SeveralThreadsUseOneQueue) {
  constexpr int kThreads = 4, kTimes = 200;
  int sum = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kTimes; ++i) {
        auto own = NS::TransferPtr(queue->newCommandBuffer());
        own->runSmallLaunches();
        own->addHostTask([&] { ++sum; }, (i + t) % 3 != 0);
        own->commit();
        own->waitUntilCompleted();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(sum, kThreads * kTimes);
  EXPECT_TRUE(queue->isIdle());
}

}  // namespace
}  // namespace metal::test
