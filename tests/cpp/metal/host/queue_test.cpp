// Tests command queues of devices whose launches return before they have ended.
#include "metal/host/queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "metal/host/command_buffer.h"

namespace metal::host {
namespace {

// What the device has started, and how much of that may end.
struct Progress {
  std::atomic<uint64_t> started{0}, ended{0};
};

class SlowStream : public Stream {
 public:
  explicit SlowStream(Progress& progress) : progress_(progress) {}

  void launch(const Kernel&, const LaunchParameters&) override { ++progress_.started; }
  void start(const LibraryCall& call, const LaunchParameters& parameters) override {
    const std::unique_lock lock(in_use_, std::try_to_lock);
    EXPECT_TRUE(lock) << "two threads use the stream";
    call.start(nullptr, parameters.buffers);
    ++progress_.started;
  }
  void wait() override { wait_for(progress_.started, {}); }
  bool is_asynchronous() const override { return true; }
  uint64_t mark() override { return progress_.started; }
  void wait_for(uint64_t mark, const std::function<void()>& poll) override {
    for (; progress_.ended < mark; std::this_thread::yield())
      if (poll) poll();
  }
  bool has_passed(uint64_t mark) const override { return progress_.ended >= mark; }

 private:
  Progress& progress_;
  std::mutex in_use_;
};

class SlowDriver : public Driver {
 public:
  const DeviceInfo& info() const override { return default_driver().info(); }
  Allocator& allocator() override { return default_driver().allocator(); }
  std::shared_ptr<const Kernel> load(const Program&, std::string_view, const ConstantValues&,
                                     std::string_view, Checks) override {
    return nullptr;
  }
  std::unique_ptr<Stream> new_stream() override { return std::make_unique<SlowStream>(progress); }
  void interrupt() override {}

  Progress progress;
};

class AsynchronousQueueTest : public ::testing::Test {
 protected:
  using Buffer = NS::SharedPtr<MTL::CommandBuffer>;

  Buffer new_buffer() { return NS::TransferPtr(queue_->newCommandBuffer()); }
  Buffer call_of_device(std::function<void()> started = [] {}) {
    Buffer buffer = new_buffer();
    buffer->addLibraryCall({"call", [=](void*, void* const*) { started(); }}, {});
    return buffer;
  }
  Buffer task_of_host(std::function<void()> task) {
    Buffer buffer = new_buffer();
    buffer->addHostTask(std::move(task));
    return buffer;
  }

  SlowDriver driver_;  // outlives the queue's thread: every test waits for its last buffer
  NS::SharedPtr<QueueObject> queue_ = NS::TransferPtr(new QueueObject(nullptr, driver_));
};

TEST_F(AsynchronousQueueTest, BuffersStartBeforeOthersEnd) {
  Buffer first = call_of_device(), second = call_of_device();
  first->commit();
  second->commit();
  EXPECT_EQ(driver_.progress.started, 2u);
  EXPECT_LT(first->status(), MTL::CommandBufferStatusCompleted);
  driver_.progress.ended = 1;
  first->waitUntilCompleted();
  EXPECT_LT(second->status(), MTL::CommandBufferStatusCompleted);
  driver_.progress.ended = 2;
  second->waitUntilCompleted();
  EXPECT_EQ(second->status(), MTL::CommandBufferStatusCompleted);
}

TEST_F(AsynchronousQueueTest, TasksOfTheHostRunBetween) {
  std::atomic<bool> ran = false;
  Buffer first = call_of_device(), last = call_of_device();
  Buffer task = task_of_host([&] {
    EXPECT_EQ(driver_.progress.ended, 1u);
    EXPECT_EQ(driver_.progress.started, 1u);
    EXPECT_EQ(first->status(), MTL::CommandBufferStatusCompleted);
    ran = true;
  });
  first->commit();
  task->commit();
  last->commit();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(ran);
  driver_.progress.ended = 1;
  task->waitUntilCompleted();
  EXPECT_TRUE(ran);
  driver_.progress.ended = 2;
  last->waitUntilCompleted();
}

TEST_F(AsynchronousQueueTest, AWaitingThreadCompletesItsBufferAndPolls) {
  Buffer buffer = call_of_device();
  buffer->commitBefore(MTL::NextCall::Wait);
  EXPECT_EQ(driver_.progress.started, 1u);
  std::atomic<bool> polled = false;
  buffer->waitUntilCompleted([&] {
    polled = true;
    driver_.progress.ended = 1;
  });
  EXPECT_TRUE(polled);
}

TEST_F(AsynchronousQueueTest, AThreadThatCommitsCompletesWhatHasEnded) {
  std::atomic<std::thread::id> completed_by;
  Buffer first = call_of_device(), second = call_of_device(), last = call_of_device();
  first->addCompletedHandler(
      [&](MTL::CommandBuffer*) { completed_by = std::this_thread::get_id(); });
  first->commitBefore(MTL::NextCall::Commit);
  driver_.progress.ended = 1;
  second->commitBefore(MTL::NextCall::Commit);
  EXPECT_EQ(first->status(), MTL::CommandBufferStatusCompleted);
  EXPECT_EQ(completed_by, std::this_thread::get_id());
  driver_.progress.ended = 2;
  last->commitBefore(MTL::NextCall::Wait);
  EXPECT_LT(second->status(), MTL::CommandBufferStatusCompleted);
  driver_.progress.ended = 3;
  last->waitUntilCompleted();
  EXPECT_EQ(second->status(), MTL::CommandBufferStatusCompleted);
}

TEST_F(AsynchronousQueueTest, TheQueuesThreadCompletesWhatNobodyWaitsFor) {
  constexpr int kBuffers = 20;
  std::atomic<int> completed = 0;
  for (int i = 0; i < kBuffers; ++i) {
    Buffer buffer = call_of_device();
    buffer->addCompletedHandler([&](MTL::CommandBuffer*) { ++completed; });
    i + 1 < kBuffers ? buffer->commitBefore(MTL::NextCall::Commit) : buffer->commit();
    if (i == kBuffers / 2) driver_.progress.ended = 3;
  }
  driver_.progress.ended = kBuffers;
  while (completed < kBuffers) std::this_thread::yield();
}

TEST_F(AsynchronousQueueTest, WhoWaitsInAnotherWayAsksForCompletion) {
  std::atomic<bool> completed = false;
  Buffer buffer = call_of_device();
  buffer->addCompletedHandler([&](MTL::CommandBuffer*) { completed = true; });
  buffer->commitBefore(MTL::NextCall::Commit);
  driver_.progress.ended = 1;
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_FALSE(completed);
  queue_->completeSoon();
  while (!completed) std::this_thread::yield();
  queue_->completeSoon();
}

TEST_F(AsynchronousQueueTest, AFailedStartFailsItsBufferAlone) {
  Buffer bad = call_of_device([] { throw std::runtime_error("no such thing"); });
  Buffer good = call_of_device();
  driver_.progress.ended = 100;
  bad->commit();
  good->commit();
  good->waitUntilCompleted();
  bad->waitUntilCompleted();
  EXPECT_NE(bad->error(), nullptr);
  EXPECT_EQ(good->error(), nullptr);
}

// Some threads commit, and the device ends what has started after a while. Buffers start and
// complete in the order of their commits.
TEST_F(AsynchronousQueueTest, RandomBuffersKeepTheirOrder) {
  constexpr int kThreads = 3, kBuffers = 400;
  std::atomic<bool> finished = false;
  std::thread device([&] {
    for (std::mt19937 random(1); !finished; std::this_thread::yield())
      if (random() % 3 == 0) driver_.progress.ended = driver_.progress.started.load();
  });
  std::mutex committing;
  int committed = 0;
  std::vector<int> started, completed;  // written in order, by one thread at a time
  const auto commit_some = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < kBuffers; ++i) {
      Buffer buffer;
      {
        const std::lock_guard lock(committing);
        const int number = committed++;
        const auto note = [&started, number] { started.push_back(number); };
        buffer = random() % 4 ? call_of_device(note) : task_of_host(note);
        buffer->addCompletedHandler(
            [&completed, number](MTL::CommandBuffer*) { completed.push_back(number); });
        buffer->commitBefore(static_cast<MTL::NextCall>(random() % 3));
      }
      if (random() % 8 == 0) buffer->waitUntilCompleted();
      if (random() % 8 == 0) queue_->completeSoon();
      if (random() % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(commit_some, i);
  for (std::thread& thread : threads) thread.join();
  Buffer last = task_of_host([] {});
  last->commit();
  last->waitUntilCompleted();
  finished = true;
  device.join();
  ASSERT_EQ(started.size(), size_t{kThreads} * kBuffers);
  ASSERT_EQ(completed.size(), started.size());
  EXPECT_TRUE(std::ranges::is_sorted(started));
  EXPECT_TRUE(std::ranges::is_sorted(completed));
}

}  // namespace
}  // namespace metal::host
