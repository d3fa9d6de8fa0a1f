// The number of tasks (command buffers) in flight: eval waits when there are too many.
#pragma once

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <queue>
#include <thread>

#include "mlx/stream.h"

namespace mlx::core::scheduler {

// Threads may share arrays that are not evaluated yet: one schedules at a time.
std::recursive_mutex& mutex();
// In the child of a fork: nobody schedules, nothing is in flight.
void start_anew();

void notify_new_task(const Stream& stream);
void notify_task_completion(const Stream& stream);
int n_active_tasks();
// Returns once at most `limit` tasks are in flight.
void wait_for_at_most(int limit);

}  // namespace mlx::core::scheduler
