// Events: who has waited for a value finds nothing kept for the work before it.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "mlx/interrupt.h"
#include "mlx/mlx.h"

namespace mlx::core {
namespace {

// Takes a while to be destroyed, so that a waiter which is told too early gets ahead of it.
struct SlowToDestroy {
  explicit SlowToDestroy(std::atomic<bool>& gone) : gone(gone) {}
  ~SlowToDestroy() {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gone = true;
  }
  SlowToDestroy(const SlowToDestroy&) = delete;
  SlowToDestroy& operator=(const SlowToDestroy&) = delete;

  std::atomic<bool>& gone;
};

TEST(Events, PollFunctionsOfWaitsNest) {
  EXPECT_FALSE(WaitPoll::current());
  int outer_calls = 0, inner_calls = 0;
  {
    const WaitPoll outer([&] { ++outer_calls; });
    {
      const WaitPoll inner([&] { ++inner_calls; });
      WaitPoll::current()();
    }
    WaitPoll::current()();
  }
  EXPECT_EQ(outer_calls, 1);
  EXPECT_EQ(inner_calls, 1);
  EXPECT_FALSE(WaitPoll::current());
}

TEST(Events, ReleaseWhatTheyKeepBeforeTheValueIsSet) {
  Event event(default_stream(Device::cpu));
  std::atomic<bool> early{false}, late{false};
  event.set_value(1);
  event.keep(std::make_shared<SlowToDestroy>(early));
  Event second = event;
  second.set_value(2);
  second.keep(std::make_shared<SlowToDestroy>(late));

  std::thread first_work([event] { event.notify(); });
  event.wait();
  EXPECT_TRUE(early);
  EXPECT_FALSE(late);
  first_work.join();

  std::thread second_work([second] { second.notify(); });
  second.wait();
  EXPECT_TRUE(late);
  second_work.join();
}

}  // namespace
}  // namespace mlx::core
