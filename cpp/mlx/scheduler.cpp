// The scheduling lock, and the number of tasks in flight.
#include "mlx/scheduler.h"

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "mlx/interrupt.h"

namespace mlx::core::scheduler {

namespace {

struct Tasks {
  std::recursive_mutex scheduling;
  std::mutex mutex;
  std::condition_variable completed;
  int active = 0;
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

void notify_new_task(const Stream&) {
  std::lock_guard lock(tasks().mutex);
  tasks().active += 1;
}

void notify_task_completion(const Stream&) {
  {
    std::lock_guard lock(tasks().mutex);
    tasks().active -= 1;
  }
  tasks().completed.notify_all();
}

int n_active_tasks() {
  std::lock_guard lock(tasks().mutex);
  return tasks().active;
}

void wait_for_at_most(int limit) {
  std::unique_lock lock(tasks().mutex);
  auto few_enough = [limit] { return tasks().active <= limit; };
  while (!tasks().completed.wait_for(lock, WaitPoll::interval, few_enough)) {
    if (auto& poll = WaitPoll::current()) {
      lock.unlock();
      poll();
      lock.lock();
    }
  }
}

}  // namespace mlx::core::scheduler
