// Samples the threads that run kernels, and notes when launches run.
#pragma once

#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "metal/driver.h"
#include "metal/profile.h"

namespace metal::cpu {

// One profile at a time, of the whole process.
class Profiler {
 public:
  using Clock = std::chrono::steady_clock;

  static Profiler& instance();

  void start();
  Profile stop();
  bool active() const { return active_.load(std::memory_order_relaxed); }

  // Called around a launch. The number is that of part() and of samples; 0 if no profile is made.
  uint32_t begin_launch(const Kernel& kernel, const LaunchParameters& parameters);
  void end_launch(uint32_t number);
  // A thread ran these threadgroups of it since `start`.
  void add_part(uint32_t launch, Clock::time_point start, uint64_t threadgroups);

  // In a signal handler: the thread runs a kernel of this launch at this address.
  void add_sample(uint32_t launch, uint64_t address);

 private:
  static constexpr uint64_t kMaxSamples = uint64_t{1} << 20;
  static constexpr auto kPeriod = std::chrono::milliseconds(1);

  struct Sample {
    uint64_t address;
    uint32_t launch;
  };
  struct Launch {
    ProfiledLaunch result;
    std::string source;
    bool ended = false;
  };

  static void add_handler();
  void sample_threads();
  double now() const;
  double time(Clock::time_point point) const;
  void add_lines(std::vector<Launch>& launches) const;

  std::mutex mutex_;  // of launches_ and the profile's beginning and end
  std::atomic<bool> active_{false};
  Clock::time_point start_;
  std::vector<Launch> launches_;
  uint32_t first_ = 1;  // number of the first launch of this profile
  std::thread sampler_;
  std::unique_ptr<Sample[]> samples_;
  std::atomic<uint64_t> taken_{0};
};

}  // namespace metal::cpu
