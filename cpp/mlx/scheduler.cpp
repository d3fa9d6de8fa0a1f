// The scheduling lock, and what is in flight.
#include "mlx/scheduler.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "mlx/interrupt.h"

namespace mlx::core::scheduler {

namespace {

struct Tasks {
  std::recursive_mutex scheduling;
  std::mutex mutex;
  std::condition_variable completed;
  // Changed under the mutex; eval reads them for each operation without it.
  std::atomic<int> active{0};
  std::atomic<size_t> bytes{0};
};

// Never destroyed: queues may still use it while the process ends.
std::atomic<Tasks*>& current() {
  static std::atomic<Tasks*> instance{new Tasks()};
  return instance;
}

Tasks& tasks() { return *current().load(); }

}  // namespace

std::recursive_mutex& mutex() { return tasks().scheduling; }

// The locks are replaced: the threads that held them do not exist in the child.
void start_anew() { current() = new Tasks(); }

void notify_new_task(const Stream&, size_t bytes) {
  std::lock_guard lock(tasks().mutex);
  tasks().active += 1;
  tasks().bytes += bytes;
}

void notify_task_completion(const Stream&, size_t bytes) {
  {
    std::lock_guard lock(tasks().mutex);
    tasks().active -= 1;
    tasks().bytes -= bytes;
  }
  tasks().completed.notify_all();
}

int n_active_tasks() { return tasks().active; }

size_t n_active_bytes() { return tasks().bytes; }

namespace {

// Many short waits poll as often as a long one.
void wait_until(const std::function<bool()>& few_enough) {
  using Clock = std::chrono::steady_clock;
  static thread_local Clock::time_point next_poll;
  std::unique_lock lock(tasks().mutex);
  while (!few_enough()) {
    tasks().completed.wait_until(lock, next_poll);
    if (Clock::now() < next_poll) continue;
    next_poll = Clock::now() + WaitPoll::interval;
    if (auto& poll = WaitPoll::current()) {
      lock.unlock();
      poll();
      lock.lock();
    }
  }
}

}  // namespace

void wait_for_at_most(int limit) {
  wait_until([limit] { return tasks().active <= limit; });
}

void wait_for_at_most_bytes(size_t limit) {
  wait_until([limit] { return tasks().bytes <= limit; });
}

}  // namespace mlx::core::scheduler
