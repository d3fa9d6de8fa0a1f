// Work on all cores, with oneTBB. This file is built without ThreadSanitizer, which cannot see how
// the library synchronises; the callers of run_parallel annotate that themselves.
#include "metal/cpu/runtime/parallel.h"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <pthread.h>

#include <atomic>
#include <optional>

#include "metal/cpu/runtime/helpers.h"

namespace metal::cpu {
namespace {

// A child of fork() has none of the library's threads, and locks that they held stay taken: it
// works on one thread.
std::atomic<bool> forked{false};

const int parallel_fork_handler = pthread_atfork(nullptr, nullptr, [] { forked = true; });

}  // namespace

size_t parallel_width() {
  return forked ? 1 : static_cast<size_t>(tbb::this_task_arena::max_concurrency());
}

void run_parallel(size_t times, void (*function)(void* context), void* context) {
  if (forked) {
    for (size_t i = 0; i < times; ++i) function(context);
    return;
  }
  const pthread_t caller = pthread_self();
  auto call = [=](size_t) {
    std::optional<HelperScope> helping;
    if (!pthread_equal(caller, pthread_self())) helping.emplace();
    function(context);
  };
  tbb::parallel_for(size_t{0}, times, call, tbb::simple_partitioner());
}

}  // namespace metal::cpu
