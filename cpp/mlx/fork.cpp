// Handlers around fork().
#include "mlx/fork.h"

#include <pthread.h>

#include <atomic>

#include "metal/driver.h"
#include "mlx/backend/metal/background_pipelines.h"
#include "mlx/backend/metal/device.h"
#include "mlx/distributed/distributed.h"
#include "mlx/interrupt.h"
#include "mlx/scheduler.h"

namespace mlx::core {

namespace {

std::atomic<bool> watched{false};
thread_local int held = 0;  // how often this thread has locked for a fork

void wait_for_streams(const std::function<void()>& poll) {
  for (auto* device : metal::all_devices()) device->wait_for_streams(poll);
}

void in_child() {
  held = 0;
  scheduler::start_anew();
  for (auto* device : metal::all_devices()) device->start_anew();
  distributed::leave_groups();
  forget_pending_pipelines();
}

}  // namespace

void before_fork() {
  if (!watched) {
    return;
  }
  wait_unlocked([] {
    scheduler::mutex().lock();
    held += 1;
    try {
      wait_for_streams(WaitPoll::current());
    } catch (...) {  // an interruption: it ends the work in flight
      wait_for_streams({});
    }
    if (held == 1) pause_pipelines();
  });
}

void after_fork() {
  if (held > 0) {
    held -= 1;
    if (held == 0) resume_pipelines();
    scheduler::mutex().unlock();
  }
}

void watch_forks() {
  static const bool once = [] {
    // Handlers registered last are called first: registered after the allocator's, these run while
    // nobody holds its lock.
    ::metal::default_driver().allocator();
    pthread_atfork(&before_fork, &after_fork, &in_child);
    return true;
  }();
  watched = once;
}

}  // namespace mlx::core
