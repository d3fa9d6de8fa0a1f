// The threads that take part in work on all cores, and the cores on which they run.
#include "metal/cpu/runtime/helpers.h"

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <vector>

namespace metal::cpu {
namespace {

constexpr int kNoCore = -1;

struct Helper {
  const pid_t thread = gettid();
  cpu_set_t cores;                  // its CPU affinity when it was created
  std::atomic<int> core = kNoCore;  // while it takes part

  Helper();
  ~Helper();
};

struct HelperRegistry {
  std::mutex mutex;
  std::vector<Helper*> helpers;
};

// Never destroyed: threads may end after static objects.
HelperRegistry& helper_registry() {
  static auto* instance = new HelperRegistry;
  return *instance;
}

Helper::Helper() {
  CPU_ZERO(&cores);  // stays empty if the affinity is not known
  sched_getaffinity(thread, sizeof(cores), &cores);
  std::lock_guard lock(helper_registry().mutex);
  helper_registry().helpers.push_back(this);
}

Helper::~Helper() {
  std::lock_guard lock(helper_registry().mutex);
  std::erase(helper_registry().helpers, this);
}

Helper& this_helper() {
  thread_local Helper helper;
  return helper;
}

bool may_use(const Helper& helper, const cpu_set_t& cores) {
  cpu_set_t allowed;
  return sched_getaffinity(helper.thread, sizeof(allowed), &allowed) == 0 &&
         CPU_EQUAL(&allowed, &cores);
}

// Linux moves a thread that waits for a core outside the set to a core of the set at once. A thread
// whose affinity somebody has changed is left alone.
void move_into(const cpu_set_t& cores, const Helper& helper) {
  cpu_set_t both;
  CPU_AND(&both, &helper.cores, &cores);
  if (CPU_COUNT(&both) == 0 || !may_use(helper, helper.cores)) return;
  sched_setaffinity(helper.thread, sizeof(both), &both);
  if (may_use(helper, both)) sched_setaffinity(helper.thread, sizeof(helper.cores), &helper.cores);
}

}  // namespace

HelperScope::HelperScope() : before_(this_helper().core.exchange(sched_getcpu())) {}

HelperScope::~HelperScope() { this_helper().core = before_; }

void move_late_helpers() {
  cpu_set_t free;
  if (sched_getaffinity(0, sizeof(free), &free) != 0) return;
  CPU_CLR(sched_getcpu(), &free);
  std::lock_guard lock(helper_registry().mutex);
  for (const Helper* helper : helper_registry().helpers) {
    if (helper->core != kNoCore) CPU_CLR(helper->core, &free);
  }
  for (const Helper* helper : helper_registry().helpers) {
    if (helper->core == kNoCore) move_into(free, *helper);
  }
}

}  // namespace metal::cpu
