// Watches the dispatches that run, and ends those that are interrupted or take too long.
#include "metal/cpu/runtime/monitor.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "metal/cpu/runtime/dispatch.h"

namespace metal::cpu {

using Clock = std::chrono::steady_clock;

namespace {

struct Running {
  Dispatch* dispatch;
  Clock::time_point deadline;
  double limit;
};

void stop_interrupted(Dispatch& dispatch) {
  dispatch.stop(LaunchFault::Interrupted, "The kernel was interrupted");
}

class Monitor {
 public:
  void add(Dispatch& dispatch, double limit) {
    Running entry{&dispatch, Clock::time_point::max(), limit};
    if (limit > 0) {
      limit = std::min(limit, 1e9);
      entry.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                          std::chrono::duration<double>(limit));
    }
    std::lock_guard lock(mutex_);
    running_.push_back(entry);
    if (limit > 0) {
      if (!watching_) std::thread([this] { watch(); }).detach();
      watching_ = true;
      changed_.notify_one();
    }
  }

  void remove(const Dispatch& dispatch) {
    std::lock_guard lock(mutex_);
    const auto entry = std::ranges::find(running_, &dispatch, &Running::dispatch);
    *entry = running_.back();
    running_.pop_back();
  }

  void interrupt() {
    std::lock_guard lock(mutex_);
    for (Running& entry : running_) {
      stop_interrupted(*entry.dispatch);
    }
  }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    for (;;) {
      auto now = Clock::now();
      auto earliest = Clock::time_point::max();
      for (Running& entry : running_) {
        if (entry.deadline <= now) {
          end(entry);
        } else {
          earliest = std::min(earliest, entry.deadline);
        }
      }
      if (earliest == Clock::time_point::max()) {
        changed_.wait(lock);
      } else {
        changed_.wait_until(lock, earliest);
      }
    }
  }

  static void end(Running& entry) {
    char text[160];
    std::snprintf(text, sizeof(text),
                  "The kernel ran longer than the time limit of %g seconds "
                  "(environment variable MLX_KERNEL_TIME_LIMIT)",
                  entry.limit);
    entry.dispatch->stop(LaunchFault::TimeLimit, text);
    entry.deadline = Clock::time_point::max();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Running> running_;
  bool watching_ = false;
};

// Never destroyed: queues may still run at exit. A forked process has no thread that watches, so it
// gets a monitor of its own.
std::atomic<Monitor*> current_monitor{new Monitor};
const int monitor_fork_handler =
    pthread_atfork(nullptr, nullptr, [] { current_monitor = new Monitor; });

}  // namespace

Monitored::Monitored(Dispatch& dispatch, double time_limit, uint64_t interrupts_before)
    : dispatch_(dispatch) {
  current_monitor.load()->add(dispatch, time_limit);
  // The interrupt count rises before running dispatches are stopped, so this finds any interrupt
  // that they missed.
  if (interrupt_count() != interrupts_before) stop_interrupted(dispatch);
}

Monitored::~Monitored() { current_monitor.load()->remove(dispatch_); }

void interrupt_dispatches() { current_monitor.load()->interrupt(); }

}  // namespace metal::cpu
