// Work on all cores, with oneTBB. This file is built without ThreadSanitizer, which cannot see how
// the library synchronises; run_parallel's users say so themselves.
#include "metal/cpu/parallel.h"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

namespace metal::cpu {

size_t parallel_width() { return static_cast<size_t>(tbb::this_task_arena::max_concurrency()); }

void run_parallel(size_t times, void (*function)(void* context), void* context) {
  tbb::parallel_for(
      size_t{0}, times, [=](size_t) { function(context); }, tbb::simple_partitioner());
}

}  // namespace metal::cpu
