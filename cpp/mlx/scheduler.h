// One host thread per stream that runs its tasks in order, and the number of tasks in flight.
#pragma once

#include <functional>

#include "mlx/stream.h"

namespace mlx::core::scheduler {

// Runs `task` on the stream's host thread after the stream's earlier tasks. If a task throws, the
// later ones are dropped up to the next signal of an Event, which carries the error to those who
// wait.
void enqueue(const Stream& stream, std::function<void()> task);

// Work that is in flight elsewhere (command buffers): eval waits when there is too much of it.
void notify_new_task(const Stream& stream);
void notify_task_completion(const Stream& stream);
int n_active_tasks();
void wait_for_one();

// Waits until the stream's host thread has run all of its tasks.
void drain(const Stream& stream);

}  // namespace mlx::core::scheduler
