// The number of tasks (command buffers) in flight: eval waits when there are too many.
#pragma once

#include "mlx/stream.h"

namespace mlx::core::scheduler {

void notify_new_task(const Stream& stream);
void notify_task_completion(const Stream& stream);
int n_active_tasks();
// Returns once at most `limit` tasks are in flight.
void wait_for_at_most(int limit);

}  // namespace mlx::core::scheduler
