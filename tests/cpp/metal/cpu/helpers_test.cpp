// Moving threads between cores does not change their affinity or the results.
#include "metal/cpu/runtime/helpers.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "metal/cpu/runtime/parallel.h"
#include "metal/sanitizers.h"

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

// Threads that started or ended meanwhile are skipped.
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

#ifndef METAL_TSAN  // has threads of its own
// Threads keep an affinity that somebody else has set.
TEST(Helpers, StayWhereTheUserWantsThem) {
  work_on_all_cores();
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
  std::vector<cpu_set_t> choices;
  for (int core = 0; core < CPU_SETSIZE && choices.size() < 2; ++core) {
    if (!CPU_ISSET(core, &all)) continue;
    choices.emplace_back();
    CPU_ZERO(&choices.back());
    CPU_SET(core, &choices.back());
  }
  if (choices.size() < 2) return;  // there is nothing to choose
  std::vector<pid_t> threads;
  for (const auto& [thread, cores] : allowed_cores()) {
    if (thread != gettid()) threads.push_back(thread);
  }
  auto set = [&](const cpu_set_t& cores) {
    for (pid_t thread : threads) sched_setaffinity(thread, sizeof(cores), &cores);
  };
  set(choices[0]);
  std::atomic<bool> ended{false};
  std::thread mover([&] {
    while (!ended) move_late_helpers();
  });
  for (int i = 0; i < 2000; ++i) {
    set(choices[i % 2]);
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    for (pid_t thread : threads) {
      cpu_set_t cores;
      if (sched_getaffinity(thread, sizeof(cores), &cores) != 0) continue;
      EXPECT_TRUE(CPU_EQUAL(&cores, &choices[i % 2])) << thread;
    }
  }
  ended = true;
  mover.join();
  set(all);
}
#endif

}  // namespace
}  // namespace metal::cpu
