// Moving threads between cores changes nothing but where they run.
#include "metal/cpu/helpers.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "metal/cpu/parallel.h"
#include "metal/cpu/sanitizers.h"

namespace metal::cpu {
namespace {

// The cores that each thread of this process may use.
std::map<pid_t, std::string> allowed_cores() {
  std::map<pid_t, std::string> result;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    const pid_t thread = std::atoi(task.path().filename().c_str());
    cpu_set_t cores;
    if (sched_getaffinity(thread, sizeof(cores), &cores) != 0) continue;
    for (int core = 0; core < CPU_SETSIZE; ++core)
      result[thread] += CPU_ISSET(core, &cores) ? '1' : '0';
  }
  return result;
}

// Of threads that came or went in the meantime nothing is known.
void expect_unchanged(const std::map<pid_t, std::string>& before) {
  for (const auto& [thread, cores] : allowed_cores()) {
    const auto found = before.find(thread);
    if (found != before.end()) EXPECT_EQ(cores, found->second) << thread;
  }
}

void work_on_all_cores() {
  std::atomic<int> calls{0};
  auto work = [](void* context) {
    METAL_HAPPENS_AFTER(context);
    ++*static_cast<std::atomic<int>*>(context);
    METAL_HAPPENS_BEFORE(context);
  };
  const size_t times = 8 * parallel_width();
  METAL_HAPPENS_BEFORE(&calls);
  run_parallel(times, work, &calls);
  METAL_HAPPENS_AFTER(&calls);
  ASSERT_EQ(calls.load(), static_cast<int>(times));
}

TEST(Helpers, MayRunWhereTheyCouldBefore) {
  for (int i = 0; i < 20; ++i) work_on_all_cores();
  const auto before = allowed_cores();
  move_late_helpers();
  expect_unchanged(before);
  for (int i = 0; i < 20; ++i) work_on_all_cores();
}

TEST(Helpers, StayWhereTheCallerMayUseNoOtherCore) {
  work_on_all_cores();
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  const auto before = allowed_cores();
  move_late_helpers();
  expect_unchanged(before);
  ASSERT_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
}

}  // namespace
}  // namespace metal::cpu
