// Interrupting work in flight, and what a host thread does while it waits.
#pragma once

#include <chrono>
#include <functional>

namespace mlx::core {

// Ends all work in flight with an error. From any thread.
void interrupt();

// Ends it, and lets none start any more: the process ends.
void end_work();

// While one exists, waits of this thread call `poll` every 50 ms; what it throws ends the wait.
class WaitPoll {
 public:
  explicit WaitPoll(std::function<void()> poll);
  ~WaitPoll();
  WaitPoll(const WaitPoll&) = delete;
  WaitPoll& operator=(const WaitPoll&) = delete;

  static constexpr std::chrono::milliseconds interval{50};
  // The poll function of this thread; empty if it has none.
  static const std::function<void()>& current();

 private:
  std::function<void()> previous_;
};

// Threads that hold the lock of their language's interpreter must not wait with it: what they wait
// for may need it. `around` is called for all waits; it calls `wait`, without the lock.
void set_around_waits(void (*around)(const std::function<void()>& wait));
void wait_unlocked(const std::function<void()>& wait);

}  // namespace mlx::core
