// Messages of kernels (os_log), as they are printed.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace metal::cpu {

// The messages of one launch: lines on standard error. What is more than a limit is counted only.
class Messages {
 public:
  // `held`: nothing is printed before print_held().
  Messages(const std::string& kernel, bool held) : kernel_(kernel), held_(held) {}

  void add(const std::string& line);
  void print_held();
  void end();  // of the launch

 private:
  void print(const std::string& line);

  const std::string& kernel_;
  bool held_;
  std::mutex mutex_;
  uint64_t bytes_ = 0;
  uint64_t dropped_ = 0;
  std::string text_;  // that is held
};

}  // namespace metal::cpu

extern "C" {

// The thread at this position in the grid logs something. The kinds and bits of its values follow,
// alternating, each a uint64_t.
void metal_cpu_log(uint32_t type, const char* subsystem, const char* category, const char* text,
                   uint32_t x, uint32_t y, uint32_t z, uint32_t count, ...);
}
