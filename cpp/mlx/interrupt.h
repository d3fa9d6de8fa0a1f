// Interrupts work in flight; poll functions that run while a host thread waits.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace mlx::core {

// Ends all work in flight with an error. May be called from any thread.
void interrupt();

// Tells a task that waits for something else than the device whether it has been interrupted since
// this was made, at which time it was scheduled.
class Interruption {
 public:
  Interruption();
  bool has_happened() const;

 private:
  uint64_t before_;
};

// Ends all work in flight and lets no more start, because the process ends.
void end_work();

// While one exists, waits of this thread call `poll` every 50 ms. An exception from it ends the
// wait.
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
  std::function<void()> poll_;
  const std::function<void()>* previous_;
};

// Threads that hold their interpreter's lock must release it while they wait: the work that they
// wait for may need it. All waits call `around`, which calls `wait` without the lock.
void set_around_waits(void (*around)(const std::function<void()>& wait));
void wait_unlocked(const std::function<void()>& wait);

}  // namespace mlx::core
