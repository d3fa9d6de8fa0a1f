// Counts the tasks (command buffers) in flight, and the bytes that they allocated: eval waits when
// there are too many.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <queue>
#include <thread>

#include "mlx/stream.h"

namespace mlx::core::scheduler {

// Only one thread schedules at a time, since threads may share arrays that are not yet evaluated.
std::recursive_mutex& mutex();
// For the child of a fork: nothing is being scheduled or in flight.
void start_anew();

void notify_new_task(const Stream& stream, size_t bytes = 0);
void notify_task_completion(const Stream& stream, size_t bytes = 0);
int n_active_tasks();
size_t n_active_bytes();
// Runs a task behind the work that has been scheduled on the stream.
void enqueue(const Stream& stream, std::function<void()> task);
// Returns once at most so many tasks, or bytes, are in flight.
void wait_for_at_most(int tasks);
void wait_for_at_most_bytes(size_t bytes);

}  // namespace mlx::core::scheduler
